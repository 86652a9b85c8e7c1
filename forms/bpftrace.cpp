// Reads the maps that bpftrace prints when its script ends. A line has a map's value for one key: "@wait_ns[KEY]: 12" or
// "@wait_ns[KEY]: count 2, average 6, total 12". A histogram follows on the lines below "@wait_ns[KEY]:". A key that is a
// stack has a line for each frame. The map's name tells whether the values are times or counts, and their unit. With -f json,
// each line is a document: {"type": "map", "data": {"@wait_ns": {"KEY": 12}}}.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "forms/forms.hpp"
#include "forms/line_file.hpp"
#include "sim/results/json_members.hpp"

namespace linebounce::sim {
namespace {

constexpr std::string_view kBpftrace = "bpftrace";

bool has_any(std::string_view name, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [name](std::string_view word) { return name.find(word) != name.npos; });
}

// The quantity and unit of a map's values, guessed from the map's name.
struct MapMeaning {
  enum class What : std::uint8_t { nothing, count, total, mean, longest } what = What::count;
  bool is_hold = false;
  double us_of_unit = 1e-3;
  bool names_unit = false;
};

MapMeaning meaning_of(std::string_view map) {
  using enum MapMeaning::What;
  std::string name(map);
  std::ranges::transform(name, name.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  MapMeaning meaning;
  // Maps of begin times are temporary. At the end they only contain threads that were still waiting.
  if (has_any(name, {"start", "stamp", "begin", "enter"}) || name == "ts") return {.what = nothing};
  constexpr std::array<std::pair<std::string_view, double>, 6> kUnits = {
      {{"nsec", 1e-3}, {"usec", 1}, {"msec", 1e3}, {"ns", 1e-3}, {"us", 1}, {"ms", 1e3}}};
  for (const auto& [unit, us] : kUnits) {
    const std::size_t at = name.find(unit);
    const bool is_word = at != name.npos && (at == 0 || name[at - 1] == '_' || unit.size() > 2) &&
                         (at + unit.size() == name.size() || name[at + unit.size()] == '_' || unit.size() > 2);
    if (!is_word) continue;
    meaning.us_of_unit = us;
    meaning.names_unit = true;
    break;
  }
  meaning.is_hold = has_any(name, {"hold", "held"});
  const bool is_time = meaning.names_unit || meaning.is_hold ||
                       has_any(name, {"time", "wait", "lat", "delay", "dur", "spin", "block", "sum", "total"});
  if (has_any(name, {"count", "hits", "num"}) || !is_time) return meaning;
  meaning.what = has_any(name, {"max", "longest"}) ? longest : has_any(name, {"avg", "mean"}) ? mean : total;
  if (has_any(name, {"min"})) meaning.what = nothing;
  return meaning;
}

// An entry of a map, "@wait_ns[mutex_lock, 12]: 7", split into its parts.
struct MapEntry {
  std::string_view map, key, value;
};

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Returns the map's name at the beginning of a line; nullopt if there is none.
std::optional<std::string_view> map_name(std::string_view text) {
  if (!text.starts_with('@')) return std::nullopt;
  std::size_t end = 1;
  while (end < text.size() && is_name_character(text[end])) ++end;
  if (end == text.size() || (text[end] != '[' && text[end] != ':')) return std::nullopt;
  return text.substr(1, end - 1);
}

// Names a stack after its innermost frame that is not a function of the lock itself.
std::string name_of_frames(const std::vector<std::string>& frames) {
  const auto is_of_locks = [](const std::string& frame) {
    return has_any(frame, {"lock", "mutex", "rwsem", "down_", "semaphore"});
  };
  const auto caller = std::ranges::find_if_not(frames, is_of_locks);
  return caller != frames.end() ? *caller : frames.empty() ? "(no frames)" : frames.front();
}

// Parses the bounds of a histogram's bin: "[256, 512)", "[1K, 2K)", "[3]", "(..., 0)" or "[100, ...)".
std::optional<std::pair<double, double>> bin_of(std::string_view text) {
  const auto number = [](std::string_view word) -> std::optional<double> {
    word = stripped(word);
    constexpr std::string_view kSuffixes = "KMGTPE";
    double scale = 1;
    const std::size_t suffix = word.empty() ? kSuffixes.npos : kSuffixes.find(word.back());
    if (suffix != kSuffixes.npos) {
      for (std::size_t i = 0; i <= suffix; ++i) scale *= 1024;
      word.remove_suffix(1);
    }
    const auto value = real(word);
    return value ? std::optional(*value * scale) : std::nullopt;
  };
  if (text.size() < 3 || (text.front() != '[' && text.front() != '(')) return std::nullopt;
  text = text.substr(1, text.size() - 2);
  const std::size_t comma = text.find(',');
  if (comma == text.npos) {
    const auto value = number(text);
    return value ? std::optional(std::pair(*value, *value)) : std::nullopt;
  }
  constexpr std::string_view kOpen = "...";
  const std::string_view begin = stripped(text.substr(0, comma)), end = stripped(text.substr(comma + 1));
  const auto low = number(begin), high = number(end);
  if ((!low && begin != kOpen) || (!high && end != kOpen) || (!low && !high)) return std::nullopt;
  return std::pair(low.value_or(0), high.value_or(low.value_or(0)));
}

using nlohmann::ordered_json;

// True if the line is a JSON document of bpftrace.
bool is_document(std::string_view text) {
  return text.starts_with("{\"type\"") && text.find("\"data\"") != text.npos;
}

class BpftraceReader {
 public:
  explicit BpftraceReader(const std::filesystem::path& file) : in_(file) {}

  LockStatisticsFile read() {
    while (const auto line = in_.next()) read_line(stripped(*line));
    if (rows_.empty()) in_.refuse("expected maps of times or counts, such as @wait_ns[mutex_lock+5]: 120");
    LockStatisticsFile file;
    file.tool = kBpftrace;
    file.what = "key";
    std::int64_t uncounted = 0;
    for (const Row& row : rows_) {
      file.locks.push_back(row.lock());
      if (!row.holds.empty() && !file.locks.back().hold) ++uncounted;
    }
    sort_hottest_first(file.locks);
    file.losses.add(Loss::script_decides, kBpftrace);
    if (!unit_named_) file.losses.add(Loss::nanoseconds_assumed, kBpftrace);
    file.losses.add_count(Loss::histograms, kBpftrace, histograms_);
    file.losses.add_count(Loss::holds_uncounted, kBpftrace, uncounted);
    file.losses.add_count(Loss::stacks_shortened, kBpftrace, stacks_);
    file.losses.add_count(Loss::quotes_removed, kBpftrace, in_.quoted());
    file.why_no_trace = "counts what its script asks for, and not how often and how long each lock was held";
    return file;
  }

 private:
  // What one map says about a key.
  struct Told {
    std::uint64_t count = 0;
    double total_us = 0;
    std::optional<double> mean_us, longest_us;
    bool is_histogram = false;  // true: `total_us` is estimated from a histogram
  };

  // What all maps say about one key. Several maps may count the same events, so their counts must not be added.
  struct Row {
    std::string name;
    std::map<std::string, Told> waits, holds;  // by map

    static LockTimes times(const std::map<std::string, Told>& maps, std::uint64_t count) {
      LockTimes times;
      const Told* best = nullptr;
      for (const auto& [map, told] : maps) {
        if (told.total_us > 0 && (best == nullptr || (best->is_histogram && !told.is_histogram))) best = &told;
        if (told.longest_us) times.longest_us = std::max(times.longest_us.value_or(0), *told.longest_us);
        if (told.mean_us) times.total_us = *told.mean_us * static_cast<double>(count);
      }
      if (best != nullptr) times.total_us = best->total_us;
      return times;
    }

    [[nodiscard]] LockStatistics lock() const {
      LockStatistics lock;
      lock.name = name;
      for (const auto& [map, told] : waits) lock.waits = std::max(lock.waits, told.count);
      lock.wait = times(waits, lock.waits);
      std::uint64_t held = 0;
      for (const auto& [map, told] : holds) held = std::max(held, told.count);
      if (held == 0) return lock;
      lock.acquisitions = held;
      lock.hold = times(holds, held);
      return lock;
    }
  };

  void read_line(std::string_view text) {
    if (is_document(text)) {
      document(text);
    } else if (const auto name = map_name(text)) {
      meaning_ = meaning_of(*name);
      map_ = *name;
      begin(text.substr(1 + name->size()));
    } else if (in_stack_) {
      frame(text);
    } else if (is_histogram_) {
      bin(text);
    }
  }

  // ---- output of -f json ----

  void document(std::string_view text) {
    try {
      for (const JsonEntry& entry : entries_of(text)) {
        if (!entry.map.starts_with('@')) continue;
        map_ = entry.map.substr(1);
        meaning_ = meaning_of(map_);
        if (meaning_.what != MapMeaning::What::nothing) json_value(entry.key ? json_key(*entry.key) : entry.map, entry.value);
      }
    } catch (const ordered_json::exception&) {
      in_.refuse("expected one of bpftrace's JSON documents, with numbers in its maps");
    }
  }

  struct JsonEntry {
    std::string map;
    std::optional<std::string> key;  // none: the map has one value
    ordered_json value;
  };

  // The entries of {"type": "map", "data": {"@wait_ns": {"KEY": 12}}}, in their order. bpftrace joins the parts of a key by
  // commas, so that different keys can have one name; an object of the library keeps the last of them.
  static std::vector<JsonEntry> entries_of(std::string_view text) {
    using Event = ordered_json::parse_event_t;
    enum Depth { kTop = 1, kMaps, kKeys };
    std::array<std::string, kKeys + 1> name;  // by depth
    std::vector<JsonEntry> entries;
    std::size_t begin_of_map = 0;
    parsed_json<ordered_json>(text, [&](int depth, Event event, const ordered_json& parsed) {
      if (depth < kTop || depth > kKeys) return true;
      if (event == Event::key) {
        name[static_cast<std::size_t>(depth)] = parsed.get<std::string>();
        if (depth == kMaps) begin_of_map = entries.size();
      }
      const bool is_whole = event == Event::value || event == Event::object_end || event == Event::array_end;
      if (!is_whole || name[kTop] != "data") return true;
      if (depth == kKeys) {
        entries.push_back({name[kMaps], name[kKeys], parsed});
      } else if (depth == kMaps && (!parsed.is_object() || is_statistics(parsed))) {
        entries.resize(begin_of_map);
        entries.push_back({name[kMaps], std::nullopt, parsed});
      }
      return true;
    });
    return entries;
  }

  static bool is_statistics(const ordered_json& value) {
    return value.is_object() && value.contains("count") && value.contains("total");
  }

  // A key that has several lines is a stack. Returns a stack's name (see name_of_frames()), and any other key as it is.
  std::string json_key(const std::string& key) {
    if (key.find('\n') == key.npos) return key;
    std::vector<std::string> frames;
    std::istringstream lines(key);
    for (std::string line; std::getline(lines, line);) {
      if (const std::string_view words = stripped(line); !words.empty()) frames.emplace_back(words);
    }
    ++stacks_;
    return name_of_frames(frames);
  }

  // Takes a value: a number, {"count": 2, "average": 6, "total": 12}, or a histogram [{"min": 4, "max": 7, "count": 2}].
  void json_value(std::string key, const ordered_json& value) {
    key_ = std::move(key);
    if (value.is_array()) {
      for (const ordered_json& bin : value) {
        const double low = bin.value("min", 0.0), high = bin.value("max", low);
        add_bin(json_count(bin.at("count")), std::max(low, 0.0), std::max({low, high, 0.0}));
      }
    } else if (value.is_object()) {
      note_unit();
      told().count += json_count(value.at("count"));
      add(MapMeaning::What::total, json_number(value.at("total")));
    } else if (value.is_number()) {
      note_unit();
      add(meaning_.what, json_number(value));
    }
  }

  double json_number(const ordered_json& value) const {
    const auto number = value.get<double>();
    if (number < 0) in_.refuse("expected no negative number");
    return number;
  }

  std::uint64_t json_count(const ordered_json& value) const {
    if (!value.is_number_unsigned()) in_.refuse("expected a whole number as a count");
    return value.get<std::uint64_t>();
  }

  // ---- as text ----

  // Takes the text after a map's name: ": 12" or "[KEY]: 12". If it is "[", frames of the key follow on the next lines.
  void begin(std::string_view text) {
    is_histogram_ = in_stack_ = false;
    if (text.starts_with(':')) return value(map_.empty() ? "@" : "@" + map_, text.substr(1));
    const std::size_t end = text.rfind("]:");
    if (end != text.npos) return value(std::string(stripped(text.substr(1, end - 1))), text.substr(end + 2));
    in_stack_ = true;
    frames_.clear();
    if (text.size() > 1) frame(text.substr(1));
  }

  // Takes a line of a stack: a frame, "mutex_lock+5", or the end of the key, "]: 42" or ", comm]: 42".
  void frame(std::string_view text) {
    const std::size_t end = text.rfind("]:");
    const std::string_view words = stripped(end == text.npos ? text : text.substr(0, end));
    constexpr std::size_t kMostFrames = 1000;
    if (!words.empty() && words != "," && frames_.size() < kMostFrames) frames_.emplace_back(words);
    if (end == text.npos) return;
    in_stack_ = false;
    ++stacks_;
    value(name_of_frames(frames_), text.substr(end + 2));
  }

  // Takes a value: a number, or "count 2, average 6, total 12". After an empty text, a histogram follows.
  void value(std::string key, std::string_view text) {
    text = stripped(text);
    key_ = std::move(key);
    if (meaning_.what == MapMeaning::What::nothing) return;
    is_histogram_ = text.empty();
    if (text.empty() || text.starts_with('(') || text.starts_with('-')) return;
    if (text.starts_with("count ")) return statistics(words_of(text));
    const auto number = real(text);
    if (!number) return;  // a text
    note_unit();
    add(meaning_.what, *number);
  }

  void statistics(const std::vector<std::string_view>& words) {
    const auto count = words.size() == 6 ? decimal(words[1].substr(0, words[1].size() - 1)) : std::nullopt;
    const auto total = words.size() == 6 ? real(words[5]) : std::nullopt;
    if (!count || !total) in_.refuse("expected count N, average N, total N");
    note_unit();
    told().count += *count;
    add(MapMeaning::What::total, *total);
  }

  // Takes a bin of a histogram: "[256, 512)   12 |@@@@@    |".
  void bin(std::string_view text) {
    const std::size_t bar = text.find('|');
    if (bar == text.npos) return;
    text = text.substr(0, bar);
    const auto count = decimal(take_last_word(text));
    const auto bounds = bin_of(stripped(text));
    if (!count || !bounds) in_.refuse("expected an interval and its count");
    add_bin(*count, bounds->first, bounds->second);
  }

  void add_bin(std::uint64_t count, double low, double high) {
    if (count == 0) return;
    if (meaning_.what == MapMeaning::What::count && !meaning_.names_unit) meaning_.what = MapMeaning::What::total;
    note_unit();
    Told& of = told();
    if (!of.is_histogram) ++histograms_;
    of.is_histogram = true;
    of.count += count;
    add(MapMeaning::What::total, static_cast<double>(count) * (low + high) / 2);
    add(MapMeaning::What::longest, high);
  }

  void note_unit() {
    if (meaning_.what != MapMeaning::What::count) unit_named_ = unit_named_ && meaning_.names_unit;
  }

  void add(MapMeaning::What what, double number) {
    using enum MapMeaning::What;
    constexpr double kMost = 1e18;
    if (number > kMost) in_.refuse("the number is too large");
    Told& of = told();
    const double us = number * meaning_.us_of_unit;
    if (what == count) of.count += static_cast<std::uint64_t>(number);
    if (what == total) of.total_us += us;
    if (what == mean) of.mean_us = us;
    if (what == longest) of.longest_us = std::max(of.longest_us.value_or(0), us);
  }

  Told& told() {
    const auto [place, is_new] = places_.try_emplace(key_, rows_.size());
    if (is_new) rows_.push_back({.name = key_, .waits = {}, .holds = {}});
    Row& row = rows_[place->second];
    return (meaning_.is_hold ? row.holds : row.waits)[map_];
  }

  LineFile in_;
  std::vector<Row> rows_;
  std::map<std::string, std::size_t> places_;  // in `rows_`, by key
  MapMeaning meaning_;
  std::string map_, key_;
  std::vector<std::string> frames_;
  bool in_stack_ = false, is_histogram_ = false, unit_named_ = true;
  std::int64_t histograms_ = 0, stacks_ = 0;
};

}  // namespace

Form bpftrace_form() {
  return {.name = "bpftrace",
          .kind = FormKind::locks,
          .what = "maps of waits that bpftrace prints",
          .marks = "lines such as @wait_ns[KEY]: 12, or @[ and a stack; with -f json {\"type\": \"map\", ...}",
          .likeness =
              [](const Excerpt& excerpt) {
                const bool found = std::ranges::any_of(excerpt.lines, [](const Excerpt::Line& line) {
                  return map_name(line.text).has_value() || (is_document(line.text) && line.text.find("\"@") != line.text.npos);
                });
                return certain_if(excerpt.is_text && found, "a line begins with a map's name");
              },
          .read_locks = [](const std::filesystem::path& file) { return BpftraceReader(file).read(); }};
}

}  // namespace linebounce::sim
