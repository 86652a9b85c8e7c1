#include "sim/config/suggestions.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

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
