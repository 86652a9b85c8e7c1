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

// A lock on a random machine: a complete simulated one, with caches, protocols and time, all of which the exhaustive cases
// lack. A fuzzer, so it can find faults but prove nothing.
struct MachineTrial {
  std::string machine;  // the machine whose settings were changed at random
  int cpus = 0;
  Consistency consistency = Consistency::sc;
  std::string experiment;  // the experiment's text, as a file
  std::string failure;     // empty: none
};

struct TrialOptions {
  std::vector<Consistency> consistencies;  // of the machines
  std::uint64_t seed = 1;
  int count = 0;
};

// Runs trials up to the first that fails; the same for the same lock and options. After an interrupt, fewer.
std::vector<MachineTrial> try_on_machines(const workloads::LockEntry& lock, const TrialOptions& options, InterruptGuard& guard,
                                          const std::function<void(double)>& progress);

struct CheckedCase {
  LockCase lock_case;
  SearchResult result;
};

enum class LockVerdict {
  holds,
  broken,         // the last case, or else the last trial, shows the fault
  incomplete,     // nothing found, but not all interleavings of some case were searched
  not_checkable,  // see LockCheck::not_checkable
};

struct LockCheck {
  std::vector<CheckedCase> cases;    // up to the first that breaks a property
  std::vector<MachineTrial> trials;  // up to the first that fails; none if a case does
  std::string not_checkable;         // the reason: "it sets a timer"
  bool interrupted = false;

  [[nodiscard]] bool broken_case() const { return !cases.empty() && !cases.back().result.violation.empty(); }
  [[nodiscard]] bool broken_trial() const { return !trials.empty() && !trials.back().failure.empty(); }
  [[nodiscard]] LockVerdict verdict() const;
};

struct LockCheckOptions : CaseOptions {
  int machines = 12;       // number of random machines
  std::uint64_t seed = 1;  // the seed of these machines
  SearchLimits limits;
  std::optional<std::uint64_t> states_of_extras;  // limit for all extra cases together; empty: each has the limit of a case
};

// `progress` receives the share done. Errors: LuaError, for a file that can't be set up.
LockCheck check_lock(const workloads::LockEntry& lock, const LockCheckOptions& options,
                     const std::function<void(double)>& progress);

}  // namespace linebounce::sim
