// Checks a lock's properties in the interleavings of a few CPUs, and on random machines.
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

// Runs a lock on a complete simulated machine with random settings. Unlike the exhaustive cases, it has caches, protocols and
// time. Like any fuzzer, it can find faults but proves nothing.
struct MachineTrial {
  std::string machine;  // the machine whose settings are changed at random
  int cpus = 0;
  Consistency consistency = Consistency::sc;
  std::string experiment;  // text of the experiment file
  std::string failure;     // empty: none
};

struct TrialOptions {
  std::vector<Consistency> consistencies;  // of the machines; empty: no machine is tried
  std::uint64_t seed = 1;
  int count = 0;
};

// Runs trials up to the first failure. The same lock and options give the same trials; an interrupt ends them early.
std::vector<MachineTrial> try_on_machines(const workloads::LockEntry& lock, const TrialOptions& options, InterruptGuard& guard,
                                          const std::function<void(double)>& progress);

struct CheckedCase {
  LockCase lock_case;
  SearchResult result;
};

enum class LockVerdict {
  holds,
  broken,         // a case under a model that the lock claims, or else the last trial, shows the fault
  incomplete,     // no fault was found, but some case was not searched completely
  not_checkable,  // see LockCheck::not_checkable
};

struct LockCheck {
  std::vector<workloads::MemoryModel> models;  // that were tried, the strongest first
  unsigned claimed = 0;                        // LockTraits::models, and those that were asked for by name
  // Of each model, ends with the first case that breaks a property. A lock that is broken under sc is tried under no other
  // model.
  std::vector<CheckedCase> cases;
  std::vector<MachineTrial> trials;  // ends with the first failed trial; empty if a case failed
  std::string not_checkable;         // why the lock can't be checked: "it sets a timer"
  bool interrupted = false;
  // The operations of the lock's file, if they are known; `ran` is true of those that a case has run.
  std::vector<workloads::LockOperation> operations;

  [[nodiscard]] bool all_ran() const;
  [[nodiscard]] const CheckedCase* broken_under(workloads::MemoryModel model) const;
  [[nodiscard]] bool is_complete_under(workloads::MemoryModel model) const;
  [[nodiscard]] bool claims(workloads::MemoryModel model) const { return (claimed >> static_cast<unsigned>(model) & 1U) != 0; }
  // The first case that breaks a property under a model that the lock claims; null: none does.
  [[nodiscard]] const CheckedCase* broken_case() const;
  [[nodiscard]] bool broken_trial() const { return !trials.empty() && !trials.back().failure.empty(); }
  [[nodiscard]] LockVerdict verdict() const;
};

struct LockCheckOptions : CaseOptions {
  bool models_are_asked_for = false;  // by name: each counts, whatever the lock claims
  int machines = 12;                  // number of random machines
  std::uint64_t seed = 1;             // the seed of the random machines
  SearchLimits limits;
  std::optional<std::uint64_t> states_of_extras;  // limit for all extra cases together; none: each has a case's limit
};

// `progress` receives the share done, 0 to 1. Errors: LuaError for a file that can't be set up.
LockCheck check_lock(const workloads::LockEntry& lock, const LockCheckOptions& options,
                     const std::function<void(double)>& progress);

}  // namespace linebounce::sim
