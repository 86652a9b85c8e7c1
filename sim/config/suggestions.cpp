#include "sim/config/suggestions.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>
#include <span>
#include <system_error>

#include "models/text/spelling.hpp"
#include "models/text/visible.hpp"

namespace linebounce::sim {
namespace {

// Sorted so that "mb_per_s" is found before its ending "s".
constexpr std::array<std::string_view, 25> kUnits = {
    "instructions", "mb_per_s", "gb_per_s", "percent", "entries", "cycles", "clocks", "bytes", "ticks",
    "lines",        "bits",     "kib",      "mib",     "gib",     "mhz",    "ghz",    "khz",   "pct",
    "ns",           "us",       "ms",       "ps",      "kb",      "mb",     "s"};

// Words for one thing, of which a key has one and users write another.
constexpr std::array<std::array<std::string_view, 6>, 3> kSynonyms = {{
    {"program", "file", "source", "script", "path", "lua"},
    {"cpus", "cores", "threads", "processors", "ncpus", "nproc"},
    {"measure_us", "duration_us", "time_us", "run_us", "length_us", "us"},
}};

struct Scale {
  std::string_view unit;
  double factor;
};

constexpr double kKibi = 1024;
constexpr Scale kTimes[] = {{"ps", 1e-3}, {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"sec", 1e9}};
constexpr Scale kFrequencies[] = {{"hz", 1e-6}, {"khz", 1e-3}, {"mhz", 1}, {"ghz", 1e3}};
constexpr Scale kSizes[] = {{"bytes", 1},
                            {"b", 1},
                            {"k", kKibi},
                            {"kb", kKibi},
                            {"kib", kKibi},
                            {"m", kKibi* kKibi},
                            {"mb", kKibi* kKibi},
                            {"mib", kKibi* kKibi},
                            {"g", kKibi* kKibi* kKibi},
                            {"gb", kKibi* kKibi* kKibi},
                            {"gib", kKibi* kKibi* kKibi}};
constexpr Scale kCounts[] = {{"", 1}, {"%", 1}, {"k", 1e3}, {"m", 1e6}, {"g", 1e9}};

std::optional<double> factor_of(std::span<const Scale> scales, std::string_view unit) {
  const auto found = std::ranges::find(scales, unit, &Scale::unit);
  return found == scales.end() ? std::nullopt : std::optional(found->factor);
}

// How many `unit` are one `suffix`; both in lower case.
std::optional<double> conversion(std::string_view suffix, std::string_view unit) {
  if (suffix == unit || suffix.empty()) return 1;
  for (const std::span<const Scale> scales :
       {std::span<const Scale>(kTimes), std::span<const Scale>(kFrequencies), std::span<const Scale>(kSizes)}) {
    const auto from = factor_of(scales, suffix), to = factor_of(scales, unit);
    if (to && !from) return suffix == "k" ? std::optional(1e3) : std::nullopt;
    if (to) return *from / *to;
  }
  return factor_of(kCounts, suffix);
}

std::string lower_case(std::string_view text) {
  std::string lower;
  for (const char letter : text) {
    if (letter != ',' && letter != '_' && letter != ' ')
      lower += letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  }
  return lower;
}

// "1..4", "1-4".
bool is_span(std::string_view text) {
  const std::size_t digits = text.find_first_not_of("0123456789");
  if (digits == 0 || digits == std::string_view::npos) return false;
  const std::string_view rest = text.substr(digits);
  const std::string_view last = rest.substr(std::min(rest.size(), rest.find_first_not_of(".-")));
  return rest.size() > last.size() && !last.empty() && last.find_first_not_of("0123456789") == std::string_view::npos;
}

std::string_view without_unit(std::string_view key) {
  const auto unit = unit_suffix(key);
  return unit.empty() ? key : key.substr(0, key.size() - unit.size() - 1);
}

}  // namespace

std::string_view unit_suffix(std::string_view key) {
  for (const auto unit : kUnits) {
    if (key.size() > unit.size() + 1 && key.ends_with(unit) && key[key.size() - unit.size() - 1] == '_') {
      return key.substr(key.size() - unit.size());
    }
  }
  return {};
}

std::string same_in_other_unit(std::string_view key, const std::vector<std::string>& candidates) {
  for (const auto& candidate : candidates) {
    if (!unit_suffix(candidate).empty() && without_unit(candidate) == without_unit(key)) return candidate;
  }
  return {};
}

std::string same_by_another_word(std::string_view key, const std::vector<std::string>& candidates) {
  const std::size_t last = key.rfind('.') + 1;
  for (const auto& synonyms : kSynonyms) {
    if (std::ranges::find(synonyms, key.substr(last)) == synonyms.end()) continue;
    for (const std::string& candidate : candidates) {
      const std::string_view text = candidate;
      if (text.substr(0, last) == key.substr(0, last) &&
          std::ranges::find(synonyms, text.substr(std::min(last, text.size()))) != synonyms.end())
        return candidate;
    }
  }
  return {};
}

std::string number_meant(std::string_view text, std::string_view unit) {
  if (is_span(text)) return "; a list is written with brackets, [1,2,4]";
  const std::string word = lower_case(text);
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || !std::isfinite(value)) return "";
  const std::string_view suffix(end, static_cast<std::size_t>(word.data() + word.size() - end));
  const auto factor = conversion(suffix, lower_case(unit));
  if (!factor || (suffix.empty() && word == text)) return "";
  return fmt::format("; did you mean {:.15g}?", value * *factor);
}

std::string with_nearest_file(std::string message) {
  namespace fs = std::filesystem;
  constexpr std::string_view kAbsent = ": there is no such file";
  constexpr int kMostFiles = 1000;
  if (!message.ends_with(kAbsent)) return message;
  std::string name = message.substr(0, message.size() - kAbsent.size());
  if (const std::size_t place = name.rfind(": "); place != std::string::npos) name.erase(0, place + 2);
  const fs::path file = name;
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator entry(file.has_parent_path() ? file.parent_path() : ".", error);
  for (; !error && entry != fs::directory_iterator() && std::ssize(names) < kMostFiles; entry.increment(error)) {
    const std::string found = entry->path().filename().string();
    if (!found.starts_with('.') && entry->is_regular_file(error)) names.push_back(found);
  }
  const std::string near = nearest(file.filename().string(), names);
  if (near.empty()) return message;
  return fmt::format("{}; did you mean {}?", message, visible_name((file.parent_path() / near).string()));
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  constexpr std::size_t kMostMeant = 3;
  std::string text;
  const std::vector<std::string> near = nearest_few(word, known, kMostMeant);
  for (std::size_t i = 0; i < near.size(); ++i) text += (i == 0 ? "" : i + 1 < near.size() ? ", " : " or ") + near[i];
  return text.empty() ? text : "; did you mean " + text + "?";
}

std::string not_known(std::string_view word, const std::vector<std::string>& known, std::string_view command) {
  constexpr std::size_t kMostShown = 16;
  std::string text = fmt::format("\"{}\" is not known", visible_name(word));
  if (!command.empty() && known.size() > kMostShown) {
    const std::string meant = did_you_mean(word, known);
    return text + meant + (meant.empty() ? "; " : " ") + fmt::format("`{}` shows all {}", command, known.size());
  }
  // A program's file chooses the names of what its parameters may be.
  text += "; known: " + (known.empty() ? "none" : visible_name(fmt::format("{}", fmt::join(known, ", "))));
  const bool is_number = !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
  if (const auto near = is_number ? "" : nearest(word, known); !near.empty())
    text += fmt::format("; did you mean {}?", visible_name(near));
  return text;
}

}  // namespace linebounce::sim
