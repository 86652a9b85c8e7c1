// Whether a lock keeps its properties: in every interleaving of a few CPUs, and on random machines.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/lock_checker/lock_on_machines.hpp"
#include "sim/lock_checker/lock_search.hpp"

namespace linebounce::sim {

struct CheckedCase {
  LockCase lock_case;
  SearchResult result;
};

enum class LockVerdict {
  holds,
  broken,         // the last case, or else the last trial, shows it
  incomplete,     // nothing found, but some case's interleavings were not all looked at
  not_checkable,  // see LockCheck::not_checkable
};

struct LockCheck {
  std::vector<CheckedCase> cases;    // up to the first that breaks a property
  std::vector<MachineTrial> trials;  // likewise; none if a case does
  std::string not_checkable;         // "it sets a timer"
  bool interrupted = false;

  [[nodiscard]] bool broken_case() const { return !cases.empty() && !cases.back().result.violation.empty(); }
  [[nodiscard]] bool broken_trial() const { return !trials.empty() && !trials.back().failure.empty(); }
  [[nodiscard]] LockVerdict verdict() const;
};

struct LockCheckOptions {
  std::vector<Consistency> consistencies = {Consistency::sc, Consistency::tso, Consistency::ia64};
  int cpus = 0, acquisitions = 0;  // 0: several small cases
  int machines = 12;               // random ones
  std::uint64_t seed = 1;          // of these
  SearchLimits limits;
};

// `progress` hears which share is done. Errors: LuaError, of a file that can't be set up.
LockCheck check_lock(const workloads::LockEntry& lock, const LockCheckOptions& options,
                     const std::function<void(double)>& progress);

}  // namespace linebounce::sim
