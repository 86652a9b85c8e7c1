#include "sim/results/run_health.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "sim/results/numbers.hpp"

namespace linebounce::sim {
namespace {

constexpr double kFewestOperations = 100;
constexpr double kLargestDrift = 10;  // percentage points: how far the second half's share of the misses may be from 50 %

std::string whole(double count) {
  return fmt::format("{:.0f}", count);
}

// A mean over several runs need not be whole, and may be below 1.
std::string cpus(double count) {
  if (count != std::round(count)) return fmt::format("on average {:.2g} CPUs", count);
  return whole(count) + (count == 1 ? " CPU" : " CPUs");
}

class Findings {
 public:
  explicit Findings(const ReportedPoint& point) : point_(point) {}

  std::vector<HealthFinding> all() {
    starvation();
    waits_without_end();
    modes();
    drift();
    few_operations();
    return std::move(findings_);
  }

 private:
  [[nodiscard]] std::optional<double> metric(const std::string& name) const {
    const auto found = point_.metrics.find(name);
    if (found == point_.metrics.end()) return std::nullopt;
    return as_double(found->second.value);
  }

  void starvation() {
    const auto starved = metric("fairness.starved_cpus");
    if (!starved || *starved == 0) return;
    constexpr std::string_view kWhat =
        "got less than a tenth of an equal share: the throughput is that of the other CPUs alone";
    add(Rank::starvation, fmt::format("{} {}", cpus(*starved), kWhat), fmt::format("some CPUs {}", kWhat), cpus(*starved));
  }

  void waits_without_end() {
    constexpr std::string_view kLocks = "locks.", kWaiting = ".waiting";
    for (const auto& [name, waiting] : point_.metrics) {
      if (!name.starts_with(kLocks) || !name.ends_with(kWaiting)) continue;
      const std::string lock = name.substr(0, name.size() - kWaiting.size());
      const auto waited = metric(lock + ".spin");
      const double still = as_double(waiting.value);
      // Under a fair lock, few waits are still unfinished at the end, compared with all waits. Numbers of acquisitions would
      // not show this: one CPU may take the lock repeatedly while all others wait.
      if (!waited || still * 10 < *waited) continue;
      const std::string of_lock = lock.substr(kLocks.size());
      const std::string of_all = fmt::format("{} of {} {}", whole(still), whole(*waited), *waited == 1 ? "wait" : "waits");
      constexpr std::string_view kWhat =
          "had not ended when the run did; they count only up to then, so the mean wait is too low";
      add(Rank::cut_off, fmt::format("{} for {} {}", of_all, of_lock, kWhat), fmt::format("waits for {} {}", of_lock, kWhat),
          of_all);
    }
  }

  void modes() {
    const auto lower = metric("throughput.lower_mode");
    const auto upper = metric("throughput.upper_mode");
    const auto seeds = metric("throughput.lower_mode_seeds");
    if (!lower || !upper || !seeds) return;
    const std::string groups =
        fmt::format("{} of them near {} operations per s, the others near {}", whole(*seeds), whole(*lower), whole(*upper));
    add(Rank::modes, fmt::format("the seeds fall into two modes: {}; the mean describes neither", groups),
        "the seeds fall into two modes, and the mean describes neither", groups);
  }

  void drift() {
    const auto second = metric("throughput.second_half_pct");
    if (!second || std::abs(*second - 50) <= kLargestDrift) return;
    constexpr std::string_view kWhy = "the warm-up is too short, or the load never settles";
    const std::string share = fmt::format("{:.0f} %", *second);
    add(Rank::drift, fmt::format("the second half of the measured time has {} of the misses: {}", share, kWhy),
        fmt::format("the second half of the measured time has many more misses than the first, or far fewer: {}", kWhy), share);
  }

  void few_operations() {
    const auto operations = metric("throughput.operations");
    if (!operations || *operations >= kFewestOperations) return;
    const std::string limit = fmt::format("fewer than {:g}: measure for longer", kFewestOperations);
    add(Rank::few, fmt::format("{} operations were measured, {}", whole(std::floor(*operations)), limit),
        fmt::format("few operations were measured, {}", limit), whole(std::floor(*operations)));
  }

  enum class Rank { starvation, cut_off, modes, drift, few };
  void add(Rank rank, std::string text, std::string in_general, std::string detail) {
    findings_.push_back({static_cast<int>(rank), std::move(text), std::move(in_general), std::move(detail)});
  }

  const ReportedPoint& point_;
  std::vector<HealthFinding> findings_;
};

}  // namespace

std::vector<HealthFinding> health_findings(const ReportedPoint& point) {
  if (!point.finished) return {};
  return Findings(point).all();
}

std::vector<std::string> health_warnings(const ReportedPoint& point) {
  std::vector<std::string> warnings;
  for (HealthFinding& finding : health_findings(point)) warnings.push_back(std::move(finding.text));
  return warnings;
}

}  // namespace linebounce::sim
