// Whether a lock keeps its properties: in every interleaving of a few CPUs, and on random machines.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "models/machine_spec.hpp"
#include "sim/interleavings/lock_cases.hpp"
#include "sim/plan/process_pool.hpp"
#include "workloads/locks/lock_registry.hpp"

namespace linebounce::sim {

// A lock on random machines: whole simulated ones, with caches, protocols and time, where small cases in all
// interleavings have neither. A fuzzer, so it can only find.
struct MachineTrial {
  std::string machine;  // whose settings were changed at random
  int cpus = 0;
  Consistency consistency = Consistency::sc;
  std::string experiment;  // as a file
  std::string failure;     // empty: none
};

struct TrialOptions {
  std::vector<Consistency> consistencies;  // of the machines
  std::uint64_t seed = 1;
  int count = 0;
};

// Trials, up to the first that fails; always the same for the same lock and options. After an interrupt, fewer.
std::vector<MachineTrial> try_on_machines(const workloads::LockEntry& lock, const TrialOptions& options, InterruptGuard& guard,
                                          const std::function<void(double)>& progress);

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

struct LockCheckOptions : CaseOptions {
  int machines = 12;       // random ones
  std::uint64_t seed = 1;  // of these
  SearchLimits limits;
  std::optional<std::uint64_t> states_of_extras;  // of all extra cases together; empty: as many as of any case, each
};

// `progress` hears which share is done. Errors: LuaError, of a file that can't be set up.
LockCheck check_lock(const workloads::LockEntry& lock, const LockCheckOptions& options,
                     const std::function<void(double)>& progress);

}  // namespace linebounce::sim
