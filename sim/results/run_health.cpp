#include "sim/results/run_health.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "sim/results/numbers.hpp"

namespace linebounce::sim {
namespace {

constexpr double kFewestOperations = 100;
constexpr double kLargestDrift = 10;  // of the second half's share of misses, from 50 %

std::string whole(double count) {
  return fmt::format("{:.0f}", count);
}

// Of several runs it is their mean, and may be less than one.
std::string cpus(double count) {
  if (count != std::round(count)) return fmt::format("on average {:.2g} CPUs", count);
  return whole(count) + (count == 1 ? " CPU" : " CPUs");
}

class Warnings {
 public:
  explicit Warnings(const ReportedPoint& point) : point_(point) {}

  std::vector<std::string> all() {
    starvation();
    waits_without_end();
    modes();
    drift();
    few_operations();
    return std::move(warnings_);
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
    warnings_.push_back(fmt::format(
        "{} got less than a tenth of an equal share: the throughput is that of the other CPUs alone", cpus(*starved)));
  }

  void waits_without_end() {
    constexpr std::string_view kLocks = "locks.", kWaiting = ".waiting";
    for (const auto& [name, waiting] : point_.metrics) {
      if (!name.starts_with(kLocks) || !name.ends_with(kWaiting)) continue;
      const std::string lock = name.substr(0, name.size() - kWaiting.size());
      const auto waited = metric(lock + ".spin");
      const double still = as_double(waiting.value);
      // In a queue everybody gets a turn: those under way at the end are few beside all waits. Acquisitions say nothing of
      // that: one CPU may take the lock again and again while all others wait.
      if (!waited || still * 10 < *waited) continue;
      warnings_.push_back(fmt::format(
          "{} of {} {} for {} had not ended when the run did; they count only up to then, so the mean wait is too low",
          whole(still), whole(*waited), *waited == 1 ? "wait" : "waits", lock.substr(kLocks.size())));
    }
  }

  void modes() {
    const auto lower = metric("throughput.lower_mode");
    const auto upper = metric("throughput.upper_mode");
    const auto seeds = metric("throughput.lower_mode_seeds");
    if (!lower || !upper || !seeds) return;
    warnings_.push_back(
        fmt::format("the seeds fall into two modes: {} of them near {} operations per s, the others near {}; "
                    "the mean describes neither",
                    whole(*seeds), whole(*lower), whole(*upper)));
  }

  void drift() {
    const auto second = metric("throughput.second_half_pct");
    if (!second || std::abs(*second - 50) <= kLargestDrift) return;
    warnings_.push_back(
        fmt::format("the second half of the measured time has {:.0f} % of the misses: the warm-up is too short, "
                    "or the load never settles",
                    *second));
  }

  void few_operations() {
    const auto operations = metric("throughput.operations");
    if (!operations || *operations >= kFewestOperations) return;
    warnings_.push_back(
        fmt::format("{} operations were measured, fewer than {:g}: measure for longer", whole(*operations), kFewestOperations));
  }

  const ReportedPoint& point_;
  std::vector<std::string> warnings_;
};

}  // namespace

std::vector<std::string> health_warnings(const ReportedPoint& point) {
  if (!point.finished) return {};
  return Warnings(point).all();
}

}  // namespace linebounce::sim
