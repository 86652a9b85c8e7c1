#include "sim/config/processor_names.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

namespace linebounce::sim {
namespace {

constexpr const char* kWeak = "ia64";  // the weakest order that machines have
constexpr const char* kTso = "tso";
constexpr int kUsualLine = 64;
constexpr int kLongLine = 128;

// A name that decides: all its words occur, each where a word begins. The first rule that fits wins, so the particular ones
// come first.
struct NameRule {
  std::array<std::string_view, 2> words;
  std::string_view family, consistency;
  int line_bytes = kUsualLine;
  bool is_nearest = false;
};

// Xeons since Skylake have a mesh, and names of metals; their predecessors have a ring. So have all processors for desktops
// but the few that are Xeons in other packages. Nehalem and Westmere (X55, X56 and L, E and W of these numbers) have a queue
// for the whole socket, for which the ring stands; Xeons before them have a front-side bus.
constexpr std::array kNameRules = {
    NameRule{{"epyc", ""}, "amd_zen", kTso},
    NameRule{{"ryzen", ""}, "amd_zen", kTso},
    NameRule{{"threadripper", ""}, "amd_zen", kTso},
    NameRule{{"opteron", ""}, "amd_k10", kTso},
    NameRule{{"phenom", ""}, "amd_k10", kTso},
    NameRule{{"athlon", "ii"}, "amd_k10", kTso},
    NameRule{{"xeon", "phi"}, "intel_mesh", kTso},
    NameRule{{"xeon", "platinum"}, "intel_mesh", kTso},
    NameRule{{"xeon", "gold"}, "intel_mesh", kTso},
    NameRule{{"xeon", "silver"}, "intel_mesh", kTso},
    NameRule{{"xeon", "bronze"}, "intel_mesh", kTso},
    NameRule{{"xeon", "skylake"}, "intel_mesh", kTso},
    NameRule{{"xeon", "cascadelake"}, "intel_mesh", kTso},
    NameRule{{"xeon", "icelake"}, "intel_mesh", kTso},
    NameRule{{"xeon", "sapphire"}, "intel_mesh", kTso},
    NameRule{{"xeon", "w-2"}, "intel_mesh", kTso},
    NameRule{{"xeon", "w-3"}, "intel_mesh", kTso},
    NameRule{{"xeon", "w3-"}, "intel_mesh", kTso},
    NameRule{{"xeon", "w5-"}, "intel_mesh", kTso},
    NameRule{{"xeon", "w7-"}, "intel_mesh", kTso},
    NameRule{{"xeon", "w9-"}, "intel_mesh", kTso},
    NameRule{{"xeon", "d-2"}, "intel_mesh", kTso},
    NameRule{{"xeon", "max"}, "intel_mesh", kTso},
    NameRule{{"xeon", "6"}, "intel_mesh", kTso},
    NameRule{{"platinum", "8"}, "intel_mesh", kTso},
    NameRule{{"xeon", "e3"}, "intel_ring", kTso},
    NameRule{{"xeon", "e5"}, "intel_ring", kTso},
    NameRule{{"xeon", "e7"}, "intel_ring", kTso},
    NameRule{{"xeon", "e-2"}, "intel_ring", kTso},
    NameRule{{"xeon", "d-1"}, "intel_ring", kTso},
    NameRule{{"xeon", "x55"}, "intel_ring", kTso},
    NameRule{{"xeon", "x56"}, "intel_ring", kTso},
    NameRule{{"xeon", "e55"}, "intel_ring", kTso},
    NameRule{{"xeon", "e56"}, "intel_ring", kTso},
    NameRule{{"xeon", "l55"}, "intel_ring", kTso},
    NameRule{{"xeon", "l56"}, "intel_ring", kTso},
    NameRule{{"xeon", "x75"}, "intel_ring", kTso},
    NameRule{{"xeon", "w-1"}, "intel_ring", kTso},
    NameRule{{"xeon(tm)", ""}, "front_side_bus", kTso},
    NameRule{{"xeon", "51"}, "front_side_bus", kTso},
    NameRule{{"xeon", "53"}, "front_side_bus", kTso},
    NameRule{{"xeon", "54"}, "front_side_bus", kTso},
    NameRule{{"xeon", "e53"}, "front_side_bus", kTso},
    NameRule{{"xeon", "e54"}, "front_side_bus", kTso},
    NameRule{{"xeon", "x53"}, "front_side_bus", kTso},
    NameRule{{"xeon", "x54"}, "front_side_bus", kTso},
    NameRule{{"xeon", "73"}, "front_side_bus", kTso},
    NameRule{{"xeon", "74"}, "front_side_bus", kTso},
    NameRule{{"core(tm)2", ""}, "front_side_bus", kTso},
    NameRule{{"pentium", "4"}, "front_side_bus", kTso},
    NameRule{{"pentium", "iii"}, "front_side_bus", kTso},
    NameRule{{"i9-79", ""}, "intel_mesh", kTso},
    NameRule{{"i7-78", ""}, "intel_mesh", kTso},
    NameRule{{"i9-98", ""}, "intel_mesh", kTso},
    NameRule{{"i9-109", "xe"}, "intel_mesh", kTso},
    NameRule{{"core(tm)", ""}, "intel_ring", kTso},
    NameRule{{"core", "i3"}, "intel_ring", kTso},
    NameRule{{"core", "i5"}, "intel_ring", kTso},
    NameRule{{"core", "i7"}, "intel_ring", kTso},
    NameRule{{"core", "i9"}, "intel_ring", kTso},
    NameRule{{"core", "ultra"}, "intel_ring", kTso},
    NameRule{{"neoverse", ""}, "arm_mesh", kWeak},
    NameRule{{"graviton", ""}, "arm_mesh", kWeak},
    NameRule{{"graviton2", ""}, "arm_mesh", kWeak},
    NameRule{{"ampere", ""}, "arm_mesh", kWeak},
    NameRule{{"altra", ""}, "arm_mesh", kWeak},
    NameRule{{"kunpeng", ""}, "arm_mesh", kWeak},
    NameRule{{"thunderx", ""}, "arm_mesh", kWeak},
    NameRule{{"yitian", ""}, "arm_mesh", kWeak},
    NameRule{{"phytium", ""}, "arm_mesh", kWeak},
    NameRule{{"apple", "m"}, "arm_mesh", kWeak, kLongLine, true},
    NameRule{{"m1", "ultra"}, "arm_mesh", kWeak, kLongLine, true},
    NameRule{{"m1", "max"}, "arm_mesh", kWeak, kLongLine, true},
    NameRule{{"m2", "ultra"}, "arm_mesh", kWeak, kLongLine, true},
    NameRule{{"cortex", ""}, "arm_mesh", kWeak, kUsualLine, true},
    NameRule{{"aarch64", ""}, "arm_mesh", kWeak},
    // None of the families is known to fit these.
    NameRule{{"xeon", ""}, "", kTso},
    NameRule{{"atom(tm)", ""}, "", kTso},
    NameRule{{"power7", ""}, "", kWeak, kLongLine},
    NameRule{{"power8", ""}, "", kWeak, kLongLine},
    NameRule{{"power9", ""}, "", kWeak, kLongLine},
    NameRule{{"power10", ""}, "", kWeak, kLongLine},
    NameRule{{"ppc970", ""}, "", kWeak, kLongLine},
    NameRule{{"itanium", ""}, "", kWeak, kLongLine},
    NameRule{{"sparc", ""}, "", kTso},
    NameRule{{"loongson", ""}, "", kWeak},
    NameRule{{"loongarch64", ""}, "", kWeak},
};

bool is_word_letter(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0;
}

// True if the word occurs where a word of the text begins. Decimals, as those of a clock, begin none.
bool has_word_beginning(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const bool is_decimal = at > 0 && text[at - 1] == '.' && std::isdigit(static_cast<unsigned char>(word.front())) != 0;
    if (at == 0 || (!is_word_letter(text[at - 1]) && !is_decimal)) return true;
  }
  return false;
}

}  // namespace

std::optional<KnownProcessor> processor_in(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  const auto fits = [&lower](const NameRule& rule) {
    return std::ranges::all_of(rule.words,
                               [&lower](std::string_view word) { return word.empty() || has_word_beginning(lower, word); });
  };
  const auto* const found = std::ranges::find_if(kNameRules, fits);
  if (found == kNameRules.end()) return std::nullopt;
  return KnownProcessor{std::string(found->family), std::string(found->consistency), found->line_bytes, found->is_nearest};
}

std::optional<double> clock_in(std::string_view text) {
  constexpr double kMhzOfGhz = 1000;
  for (std::size_t at = text.find("GHz"); at != text.npos; at = text.find("GHz", at + 1)) {
    std::string_view before = text.substr(0, at);
    while (before.ends_with(' ')) before.remove_suffix(1);
    const std::size_t behind = before.find_last_not_of("0123456789.");
    const std::string_view number = before.substr(behind == before.npos ? 0 : behind + 1);
    double ghz = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), ghz);
    if (error == std::errc{} && end == number.data() + number.size() && ghz > 0) return std::round(ghz * kMhzOfGhz);
  }
  return std::nullopt;
}

KnownProcessor usual_of(std::string_view family) {
  if (family == "arm_mesh") return {std::string(family), kWeak, kUsualLine};
  if (family == "ideal") return {std::string(family), "", 0};
  return {std::string(family), kTso, kUsualLine};
}

}  // namespace linebounce::sim
