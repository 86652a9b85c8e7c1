#include "sim/lock_checker/lock_check.hpp"

#include <algorithm>
#include <utility>

namespace linebounce::sim {

using workloads::Readers;

namespace {

std::vector<LockCase> cases_of(const workloads::LockEntry& lock, const LockCheckOptions& options) {
  std::vector<std::pair<int, int>> sizes = {{2, 1}, {2, 2}, {3, 1}};
  if (options.cpus > 0 || options.acquisitions > 0) sizes = {{std::max(options.cpus, 2), std::max(options.acquisitions, 1)}};
  std::vector<LockCase> cases;
  for (const auto& [cpus, acquisitions] : sizes) {
    if (lock.traits.most_cpus > 0 && cpus > lock.traits.most_cpus) continue;
    for (const bool with_readers : {false, true}) {
      const Readers readers = lock.traits.readers;
      if (with_readers && (readers == Readers::one_by_one || readers == Readers::never_wait)) continue;
      for (const Consistency consistency : options.consistencies)
        cases.push_back({.lock = &lock,
                         .cpus = cpus,
                         .acquisitions = acquisitions,
                         .consistency = consistency,
                         .with_readers = with_readers});
    }
  }
  return cases;
}

}  // namespace

LockVerdict LockCheck::verdict() const {
  if (!not_checkable.empty()) return LockVerdict::not_checkable;
  if (broken_case() || broken_trial()) return LockVerdict::broken;
  const bool all = std::all_of(cases.begin(), cases.end(), [](const CheckedCase& one) { return one.result.is_complete(); });
  return all && !cases.empty() ? LockVerdict::holds : LockVerdict::incomplete;
}

LockCheck check_lock(const workloads::LockEntry& lock, const LockCheckOptions& options,
                     const std::function<void(double)>& progress) {
  LockCheck check;
  if (!lock.traits.excludes) {
    check.not_checkable = "it promises nothing: it keeps nobody out";
    return check;
  }
  const std::vector<LockCase> cases = cases_of(lock, options);
  const auto parts = static_cast<double>(cases.size() + 1);
  try {
    for (const LockCase& one : cases) {
      progress(static_cast<double>(check.cases.size()) / parts);
      check.cases.push_back({one, search(one, options.limits)});
      if (check.broken_case()) return check;
    }
  } catch (const NotCheckable& reason) {
    check.not_checkable = reason.what();
    return check;
  }
  InterruptGuard guard;
  const TrialOptions trials = {.consistencies = options.consistencies, .seed = options.seed, .count = options.machines};
  check.trials = try_on_machines(lock, trials, guard,
                                 [&](double share) { progress((static_cast<double>(cases.size()) + share) / parts); });
  check.interrupted = guard.interrupted();
  return check;
}

}  // namespace linebounce::sim
