#include "commands/check_lock/weaken.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "sim/config/load_experiment.hpp"
#include "sim/config/project_files.hpp"
#include "sim/interleavings/lock_cases.hpp"
#include "sim/point/config_error.hpp"
#include "sim/simulation/simulate.hpp"
#include "workloads/native/native_lock.hpp"

namespace linebounce::sim {
namespace {

using workloads::LockEntry;
using workloads::MemoryModel;

enum class Finding { holds, breaks, unknown };

class Weakener {
 public:
  Weakener(const OrderedLock& lock, const WeakenOptions& options, MemoryModel model)
      : lock_(lock), options_(options), now_(lock.places().size(), 0) {
    model_.model = model;
  }

  WeakenedModel weaken() {
    model_.is_proved = check(now_) == Finding::holds;
    model_.weakest = now_;
    if (!model_.broken.empty()) return model_;
    for (std::size_t i = 0; i < now_.size(); ++i) model_.weakest[i] = weakest_at(i, now_);
    find_conflicts();
    model_.together = model_.weakest;
    if (!model_.conflicts.empty() || check(model_.together) != Finding::holds) together_one_by_one();
    return model_;
  }

 private:
  // The weakest order at this place with which the lock holds. `others`: the orders of all other places. An order whose search
  // is incomplete does not count as holding.
  int weakest_at(std::size_t place, std::vector<int> others) {
    for (int order = static_cast<int>(lock_.places()[place].orders.size()) - 1; order > 0; --order) {
      if (!can_be_tried(place, order)) continue;
      others[place] = order;
      if (check(others) == Finding::holds) return order;
    }
    return 0;
  }

  // Under ia64 the checker's store fence waits for an empty buffer, as a full fence does. So it would not show what a real
  // store fence misses.
  [[nodiscard]] bool can_be_tried(std::size_t place, int order) const {
    static constexpr std::array<std::string_view, 3> kStoreFences = {"store_fence", "fence acq_rel", "fence release"};
    const std::string& name = lock_.places()[place].orders[static_cast<std::size_t>(order)];
    if (!lock_.places()[place].has_orders_under(model_.model)) return false;
    return model_.model != MemoryModel::ia64 || std::ranges::find(kStoreFences, name) == kStoreFences.end();
  }

  void find_conflicts() {
    for (std::size_t a = 0; a < now_.size(); ++a) {
      for (std::size_t b = a + 1; b < now_.size(); ++b) {
        if (model_.weakest[a] == 0 || model_.weakest[b] == 0) continue;
        std::vector<int> both = now_;
        both[a] = model_.weakest[a];
        both[b] = model_.weakest[b];
        if (check(both) != Finding::holds) model_.conflicts.emplace_back(static_cast<int>(a), static_cast<int>(b));
      }
    }
  }

  // Weakens one place after the other, as far as the places already weakened allow.
  void together_one_by_one() {
    model_.together = now_;
    for (std::size_t i = 0; i < now_.size(); ++i) {
      for (int order = model_.weakest[i]; order > 0; --order) {
        if (!can_be_tried(i, order)) continue;
        std::vector<int> more = model_.together;
        more[i] = order;
        if (check(more) != Finding::holds) continue;
        model_.together = more;
        break;
      }
    }
  }

  // Checks the lock's cases, in which few CPUs take it. Extra cases have a tenth of the limit on states, and need not be
  // searched completely.
  Finding check(const std::vector<int>& chosen) {
    const LockEntry entry = workloads::lock_entry_of_file(lock_.with(chosen));
    Finding finding = Finding::holds;
    for (const LockCase& one : lock_cases(entry, {.models = {model_.model}})) {
      SearchLimits limits = options_.limits;
      if (one.is_extra) limits.states /= 10;
      const SearchResult result = search(one, limits);
      if (!result.violation.empty()) {
        if (chosen == now_) model_.broken = result.violation;
        return Finding::breaks;
      }
      if (!one.is_extra && !result.is_complete()) finding = Finding::unknown;
    }
    return finding;
  }

  const OrderedLock& lock_;
  const WeakenOptions& options_;
  const std::vector<int> now_;  // by place: index of its present order
  WeakenedModel model_;
};

// Resembles lock_scaling: short sections, and every CPU wants the lock.
constexpr const char* kTimed = R"(
name = "weaken"
title = "A lock with weaker orders"
[workload]
name = "critical_section"
data_lines = 1
inside_cycles = 50
outside_cycles = 1000
[run]
warmup_us = 20
measure_us = 200
)";

class TimedLock {
 public:
  TimedLock(const OrderedLock& lock, const std::string& machine) : lock_(lock) {
    Overrides overrides;
    overrides.machine = machine;
    overrides.native = true;  // the user named the lock, so it may be compiled and run
    const workloads::SourceFile file = lock.with(std::vector<int>(lock.places().size(), 0));
    overrides.sets.emplace_back("workload.lock", file.path);
    if (const int most = workloads::lock_entry_of_file(file).traits.most_cpus; most > 0)
      overrides.sets.emplace_back("machine.cpus", std::to_string(most));
    input_ = point_maker(read_unexpanded(kTimed, "weaken", overrides))(0).input;
  }

  [[nodiscard]] Consistency consistency() const { return input_.machine.cpu.consistency; }
  [[nodiscard]] double throughput(const std::vector<int>& chosen) const {
    SimulationInput input = input_;
    input.lock_files = {lock_.with(chosen)};
    const PointData point = simulate(input, {});
    return std::visit([](auto value) { return static_cast<double>(value); },
                      point.metrics.at("throughput.operations_per_s").value);
  }

 private:
  const OrderedLock& lock_;
  SimulationInput input_;
};

}  // namespace

Weakening weaken(const OrderedLock& lock, const WeakenOptions& options) {
  Weakening found;
  const std::size_t places = lock.places().size();
  const auto parts = static_cast<double>(options.models.size() + options.machines.size());
  double done = 0;
  for (const MemoryModel model : options.models) {
    found.models.push_back(Weakener(lock, options, model).weaken());
    options.progress(++done / parts);
  }
  for (const std::string& machine : options.machines) {
    const TimedLock timed(lock, machine);
    const auto model = std::ranges::find(found.models, memory_model(timed.consistency()), &WeakenedModel::model);
    options.progress(++done / parts);
    if (model == found.models.end() || !model->broken.empty()) continue;
    WeakenedOnMachine on{machine, timed.consistency(), std::vector<double>(places), 0};
    const double now = timed.throughput(std::vector<int>(places, 0));
    const auto gain = [&](const std::vector<int>& chosen) { return now == 0 ? 0 : 100 * (timed.throughput(chosen) / now - 1); };
    for (std::size_t i = 0; i < places; ++i) {
      std::vector<int> one(places, 0);
      one[i] = model->weakest[i];
      if (one[i] > 0) on.gain_pct[i] = gain(one);
    }
    on.together_pct = gain(model->together);
    found.machines.push_back(std::move(on));
  }
  return found;
}

}  // namespace linebounce::sim
