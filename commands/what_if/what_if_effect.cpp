#include "commands/what_if/what_if_effect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "sim/lines/line_rows.hpp"
#include "sim/plan/output_directory.hpp"
#include "sim/results/csv.hpp"
#include "sim/results/result_files.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLatency = "latency.kernel_us_per_operation";
constexpr const char* kOperationRate = "throughput.operations_per_s";
constexpr int kBase = 0;
constexpr int kChanged = 1;

SeedValues seeds_of(const fs::path& point, int number) {
  const fs::path file = point / "seeds.csv";
  if (!is_there(file)) {
    throw InputError(file.string() + ": there is no such file: these results are an older program's; delete " +
                     point.parent_path().parent_path().string() + " or run the experiment there again with run --fresh");
  }
  std::map<int, SeedValues> points = read_csv(file, read_seeds_csv);
  return points[number];
}

// The values sorted by seed, so that those of both sides can be paired.
std::vector<double> in_order(const std::map<std::uint64_t, double>& by_seed) {
  std::vector<double> values;
  for (const auto& [seed, value] : by_seed) values.push_back(value);
  return values;
}

std::vector<double> values_of(const Plan& plan, const SeedValues& seeds, int point, const std::string& metric) {
  const auto found = seeds.find(metric);
  if (found == seeds.end() || std::ssize(found->second) != plan.experiment.seeds) {
    throw ConfigError(fmt::format(
        "{}, {}: {} of {} runs report {}; a what-if needs a workload that counts its operations and misses in the kernel",
        plan.experiment.name, point_name(plan, point), found == seeds.end() ? 0 : found->second.size(), plan.experiment.seeds,
        metric));
  }
  return in_order(found->second);
}

// The change of each subsystem that all runs of both sides report.
std::vector<SubsystemChange> subsystem_changes(const SeedValues& base, const SeedValues& changed) {
  constexpr std::string_view kPrefix = "subsystem.";
  constexpr std::string_view kSuffix = ".latency_us_per_operation";
  std::vector<SubsystemChange> changes;
  for (const auto& [metric, before] : base) {
    if (!metric.starts_with(kPrefix) || !metric.ends_with(kSuffix)) continue;
    const auto after = changed.find(metric);
    if (after == changed.end() || after->second.size() != before.size()) continue;
    const std::string name = metric.substr(kPrefix.size(), metric.size() - kPrefix.size() - kSuffix.size());
    changes.push_back({name, paired_change(in_order(before), in_order(after->second))});
  }
  const auto size = [](const SubsystemChange& change) { return std::abs(change.latency.changed - change.latency.base); };
  std::ranges::stable_sort(changes, [&size](const SubsystemChange& a, const SubsystemChange& b) { return size(a) > size(b); });
  return changes;
}

bool is_hit(const std::string& source) {
  return source.size() > 1 && source[0] == 'l' && source[1] >= '0' && source[1] <= '9';
}

// The kernel's total miss latency in all runs of a point, in ns.
double kernel_latency_ns(const fs::path& point) {
  double sum = 0;
  for (const auto& [number, rows] : read_csv(point / "latency.csv", read_latency_csv)) {
    for (const LatencyRow& row : rows) {
      if (row.kind == "kernel" && !is_hit(row.source)) sum += row.latency_ns * static_cast<double>(row.count);
    }
  }
  return sum;
}

using LineLatencies = std::map<std::pair<std::string, std::int64_t>, double>;

// The miss latency of each line: the lines' shares of `us_per_operation`, which is the sum over the kernel.
LineLatencies lines_us(const fs::path& point, int number, double us_per_operation) {
  auto rows = read_csv(point / "lines.csv", read_lines_csv);
  const double all_ns = kernel_latency_ns(point);
  LineLatencies lines;
  if (all_ns == 0) return lines;
  for (const Line& line : lines_of(rows[number], {.as_sampled = false, .sum = true}).lines) {
    lines[{line.structure, line.number}] = line.misses.latency_ns / all_ns * us_per_operation;
  }
  return lines;
}

std::vector<LineChange> line_changes(const LineLatencies& base, const LineLatencies& changed) {
  std::map<std::pair<std::string, std::int64_t>, LineChange> all;
  const auto entry = [&all](const auto& place) -> LineChange& {
    return all.try_emplace(place, LineChange{place.first, place.second}).first->second;
  };
  for (const auto& [place, us] : base) entry(place).base_us = us;
  for (const auto& [place, us] : changed) entry(place).changed_us = us;
  std::vector<LineChange> changes;
  for (const auto& [place, change] : all) changes.push_back(change);
  std::ranges::stable_sort(changes, std::ranges::greater{}, [](const LineChange& line) { return std::abs(line.change_us()); });
  return changes;
}

}  // namespace

void require_pair(const Plan& plan) {
  const Experiment& experiment = plan.experiment;
  if (plan.points.size() != 2) {
    throw ConfigError(fmt::format("{} has {} point{}; a what-if has exactly two, base and changed: a [sweep] of two values",
                                  experiment.name, plan.points.size(), plan.points.size() == 1 ? "" : "s"));
  }
  if (experiment.seeds < 2) {
    throw ConfigError(
        fmt::format("{}: run.seeds: must be at least 2, as the interval of a change is made of differences between seeds",
                    experiment.name));
  }
}

Effect effect_of(const Plan& plan, const fs::path& directory) {
  const fs::path base = point_directory(directory, plan.swept(), kBase);
  const fs::path changed = point_directory(directory, plan.swept(), kChanged);
  const SeedValues base_seeds = seeds_of(base, kBase);
  const SeedValues changed_seeds = seeds_of(changed, kChanged);
  const auto change_of = [&](const char* metric) {
    const std::vector<double> before = values_of(plan, base_seeds, kBase, metric);
    const std::vector<double> after = values_of(plan, changed_seeds, kChanged, metric);
    return paired_change(before, after);
  };
  Effect effect;
  effect.experiment = plan.experiment.name;
  effect.title = plan.experiment.title;
  effect.machine = plan.experiment.machine_name;
  effect.directory = directory.string();
  effect.seeds = plan.experiment.seeds;
  effect.assumptions = plan.experiment.assumptions;
  effect.base_at = plan.points[kBase].at;
  effect.changed_at = plan.points[kChanged].at;
  effect.latency = change_of(kLatency);
  effect.throughput = change_of(kOperationRate);
  effect.subsystems = subsystem_changes(base_seeds, changed_seeds);
  const LineLatencies before = lines_us(base, kBase, effect.latency.base);
  const LineLatencies after = lines_us(changed, kChanged, effect.latency.changed);
  effect.lines = line_changes(before, after);
  return effect;
}

void rank(std::vector<Effect>& effects) {
  std::ranges::stable_sort(effects, {}, [](const Effect& effect) { return effect.latency.change_pct; });
}

}  // namespace linebounce::sim
