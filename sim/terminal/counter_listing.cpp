#include "sim/terminal/counter_listing.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <ranges>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "models/text/fields.hpp"
#include "sim/point/config_error.hpp"
#include "sim/results/numbers.hpp"
#include "sim/statistics/source_names.hpp"
#include "sim/terminal/table.hpp"

namespace linebounce::sim {
namespace {

constexpr std::string_view kCachesPrefix = "caches.";
constexpr std::string_view kEachCache = "[each cache]";
constexpr std::string_view kCosts = "[costs]";
constexpr std::string_view kEndOfSection = "[end]";
constexpr int kCachesSideBySide = 8;

double value_of(const std::map<std::string, double>& counters, const std::string& name) {
  const auto found = counters.find(name);
  return found == counters.end() ? 0 : found->second;
}

// Adds the figures that templates derive from the counters.
void add_derived(std::map<std::string, double>& counters) {
  const auto get = [&counters](const char* name) { return value_of(counters, name); };
  counters["misses"] = get("read_misses") + get("write_misses");
  counters["accesses"] = get("reads") + get("writes");
  counters["c2c"] = get("cache_to_cache");
  counters["memory"] = get("memory_reads");
  counters["replacement_misses"] = get("capacity_misses") + get("conflict_misses");
  counters["sharing_misses"] = get("true_sharing_misses") + get("false_sharing_misses");
  counters["miss_rate_pct"] = counters["accesses"] == 0 ? 0 : 100 * counters["misses"] / counters["accesses"];
  counters["memory_transactions"] = get("memory_reads") + get("memory_writes");
  counters["transactions"] =
      get("bus_rd") + get("bus_rdx") + get("bus_upgr") + get("bus_upd") + get("bus_wr") + get("write_backs");
}

std::map<std::string, double> sum_of(const CounterListing& listing) {
  std::map<std::string, double> sum;
  for (const auto& [cache, counters] : listing) {
    for (const auto& [name, value] : counters) sum[name] += value;
  }
  return sum;
}

std::string words_of(const std::string& name) {
  const auto* known = std::ranges::find(kClassCounterFacts, name, &ClassCounterFacts::name);
  if (known != kClassCounterFacts.end()) return std::string(known->words);
  for (std::size_t part = 0; part < kTimePartNames.size(); ++part) {
    if (name == std::string(kCycleCounters) + kTimePartNames[part]) return fmt::format("cycles: {}", kTimePartWords[part]);
  }
  return name;
}

// The counters in the order of ClassCounter, then the cycles.
std::vector<std::string> names_in_order(const std::map<std::string, double>& sum) {
  std::vector<std::string> names;
  for (const ClassCounterFacts& facts : kClassCounterFacts) names.emplace_back(facts.name);
  for (const char* part : kTimePartNames) names.push_back(std::string(kCycleCounters) + part);
  std::erase_if(names, [&sum](const std::string& name) { return value_of(sum, name) == 0; });
  return names;
}

// Fills in one line of a template.
class LineFiller {
 public:
  LineFiller(const std::string& file, int line, const std::map<std::string, double>& values)
      : file_(file), line_(line), values_(values) {}

  [[nodiscard]] std::string fill(std::string_view text) const {
    try {
      return fill_fields(text, [this](std::string_view name) { return field(name); });
    } catch (const std::invalid_argument& wrong) {
      throw ConfigError(fmt::format("{}:{}: {}", file_, line_, wrong.what()));
    }
  }

 private:
  // NAME, NAME:WIDTH, NAME:WIDTH.DIGITS or NAME:.DIGITS.
  [[nodiscard]] std::string field(std::string_view text) const {
    const std::size_t colon = text.find(':');
    const std::string name(text.substr(0, colon));
    const auto found = values_.find(name);
    if (found == values_.end()) {
      std::vector<std::string> known;
      for (const auto& [one, value] : values_) known.push_back(one);
      refuse(fmt::format("unknown counter '{}'; legal: {}", name, fmt::join(known, ", ")));
    }
    const std::string_view form = colon == std::string_view::npos ? "" : text.substr(colon + 1);
    const std::size_t point = form.find('.');
    const int width = number(form.substr(0, point));
    const bool whole = found->second == static_cast<double>(static_cast<std::int64_t>(found->second));
    const int digits = point == std::string_view::npos ? (whole ? 0 : 2) : number(form.substr(point + 1));
    return fmt::format("{:{}.{}f}", found->second, width, digits);
  }
  [[nodiscard]] static int number(std::string_view text) {
    constexpr int kWidest = 200;
    if (text.empty()) return 0;
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < 0 || value > kWidest)
      refuse(fmt::format("'{}' is not a width; legal: 0 to {}", text, kWidest));
    return value;
  }
  [[noreturn]] static void refuse(const std::string& why) { throw std::invalid_argument(why); }

  const std::string& file_;
  int line_;
  const std::map<std::string, double>& values_;
};

bool has_time(const CounterListing& listing) {
  return std::ranges::any_of(listing, [](const auto& cache) {
    return std::ranges::any_of(cache.second, [](const auto& counter) { return counter.first.starts_with(kCycleCounters); });
  });
}

// Tells what holds for every cache of a listing: whether it has cycles, and the formulas.
struct Common {
  explicit Common(const CounterListing& listing, const std::vector<CostFormula>& its_costs)
      : in_time(has_time(listing)), costs(its_costs) {}
  bool in_time;  // the run has cycles
  const std::vector<CostFormula>& costs;
};

// The values that a template may name. Contains all counters, even those that this run does not have.
std::map<std::string, double> all_values(std::map<std::string, double> counters, bool in_time, std::optional<int> cache) {
  for (const ClassCounterFacts& facts : kClassCounterFacts) counters.try_emplace(std::string(facts.name), 0);
  if (in_time) {
    for (const char* part : kTimePartNames) counters.try_emplace(std::string(kCycleCounters) + part, 0);
  }
  add_derived(counters);
  if (cache) counters["cache"] = *cache;
  return counters;
}

// The same, and the costs that are computed from them. Errors: ConfigError.
std::map<std::string, double> values_with_costs(const std::map<std::string, double>& counters, std::optional<int> cache,
                                                const Common& common) {
  std::map<std::string, double> values = all_values(counters, common.in_time, cache);
  try {
    add_costs(common.costs, values);
  } catch (const std::invalid_argument& wrong) {
    throw ConfigError(wrong.what());
  }
  return values;
}

// The formulas of a template's section [costs]. Errors: ConfigError with the line.
std::vector<CostFormula> costs_of(const std::string& text, const std::string& name) {
  std::istringstream in(text);
  std::string line;
  std::vector<CostFormula> costs;
  bool inside = false;
  for (int number = 1; std::getline(in, line); ++number) {
    const bool ends = line == kEndOfSection;
    if (inside && !ends && !line.empty()) {
      try {
        costs.emplace_back(line, fmt::format("{}:{}:", name, number));
      } catch (const std::invalid_argument& wrong) {
        throw ConfigError(wrong.what());
      }
    }
    inside = line == kCosts || (inside && !ends);
  }
  if (inside) throw ConfigError(fmt::format("{}: {} without {}", name, kCosts, kEndOfSection));
  return costs;
}

std::string count_text(double value) {
  const bool whole = value == static_cast<double>(static_cast<std::int64_t>(value));
  return fmt::format("{:.{}f}", value == 0 ? 0 : value, whole ? 0 : 2);  // never -0
}

}  // namespace

CounterListing listing_of(const ClassCounters& counters) {
  CounterListing listing;
  for (int cache = 0; cache < counters.caches(); ++cache) {
    for (std::size_t i = 0; i < kClassCounterFacts.size(); ++i)
      listing[cache][std::string(kClassCounterFacts[i].name)] = static_cast<double>(counters.of(cache)[i]);
  }
  return listing;
}

CounterListing listing_of(const ReportedPoint& point) {
  CounterListing listing;
  for (const auto& [name, metric] : point.metrics) {
    if (!name.starts_with(kCachesPrefix)) continue;
    const std::size_t dot = name.find('.', kCachesPrefix.size());
    listing[std::stoi(name.substr(kCachesPrefix.size()))][name.substr(dot + 1)] = as_double(metric.value);
  }
  return listing;
}

std::string counter_table(const CounterListing& listing, const Painter& paint, const std::vector<CostFormula>& costs) {
  const Common common(listing, costs);
  const std::map<std::string, double> sum = sum_of(listing);
  const std::map<std::string, double> all = values_with_costs(sum, std::nullopt, common);
  std::vector<std::string> names = names_in_order(sum);
  for (const CostFormula& cost : costs) names.push_back(cost.name());
  std::string out;
  for (auto first = listing.begin(), last = first; first != listing.end(); first = last) {
    last = std::ranges::next(first, kCachesSideBySide, listing.end());
    std::vector<Column> columns = {words("counter")};
    std::vector<std::map<std::string, double>> values;  // by column
    for (auto at = first; at != last; ++at) {
      columns.push_back(figures(fmt::format("cache {}", at->first), 0, 2));
      values.push_back(values_with_costs(at->second, std::nullopt, common));
    }
    if (last == listing.end()) {
      columns.push_back(figures("all", 0, 2));
      values.push_back(all);
    }
    Table table(columns, paint);
    for (const std::string& name : names) {
      std::vector<Cell> cells = {words_of(name)};
      for (const auto& of_column : values) cells.emplace_back(count_text(of_column.at(name)));
      table.add(cells);
    }
    out += table.text() + (last == listing.end() ? "" : "\n");
  }
  return out;
}

std::string filled_in(const std::string& text, const std::string& name, const CounterListing& listing,
                      const std::vector<CostFormula>& more_costs) {
  std::vector<CostFormula> costs = costs_of(text, name);
  costs.insert(costs.end(), more_costs.begin(), more_costs.end());
  const Common common(listing, costs);
  const std::map<std::string, double> all = values_with_costs(sum_of(listing), std::nullopt, common);
  std::istringstream in(text);
  std::string out, line;
  std::vector<std::pair<int, std::string>> section;  // its lines, with their numbers
  bool inside = false;
  for (int number = 1; std::getline(in, line); ++number) {
    if (line == kCosts) {
      for (; std::getline(in, line) && line != kEndOfSection; ++number) continue;
      ++number;
    } else if (line == kEachCache) {
      inside = true;
    } else if (line == kEndOfSection && inside) {
      for (const auto& [cache, counters] : listing) {
        const auto values = values_with_costs(counters, cache, common);
        for (const auto& [at, each] : section) out += LineFiller(name, at, values).fill(each) + "\n";
      }
      section.clear();
      inside = false;
    } else if (inside) {
      section.emplace_back(number, line);
    } else {
      out += LineFiller(name, number, all).fill(line) + "\n";
    }
  }
  if (inside) throw ConfigError(fmt::format("{}: {} without {}", name, kEachCache, kEndOfSection));
  return out;
}

}  // namespace linebounce::sim
