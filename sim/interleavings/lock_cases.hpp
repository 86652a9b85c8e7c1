// The cases that a lock is checked in: how many CPUs take it, in which role, and how often.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/interleavings/lock_search.hpp"

namespace linebounce::sim {

// Those of simulated machines; all.
inline const std::vector<Consistency> kAllConsistencies = {Consistency::sc, Consistency::tso, Consistency::ia64};
inline const std::vector<workloads::MemoryModel> kAllModels = {workloads::MemoryModel::sc, workloads::MemoryModel::tso,
                                                               workloads::MemoryModel::ia64, workloads::MemoryModel::c11};

// Limit on the states of each case in a quick check, which then mostly takes about a second in total, and on its CPU time.
inline constexpr std::uint64_t kQuickStates = 400;
inline constexpr int kQuickSeconds = 2;

// When a quick check that begins now must end (SearchLimits::until).
std::clock_t end_of_quick_check();

struct CaseOptions {
  std::vector<workloads::MemoryModel> models = kAllModels;
  int cpus = 0, acquisitions = 0;  // 0: several small cases
};

// The cases for all operations that the lock has (write, read, try), the smallest first.
std::vector<LockCase> lock_cases(const workloads::LockEntry& lock, const CaseOptions& options);

// A short check-lock of about a second: the smallest cases, each up to kQuickStates. If the lock breaks under one of these
// memory models, returns the fault and the steps that lead to it, as lines. Empty if no fault was found, or if the lock can't
// be checked. Errors: LuaError for a file that can't be set up.
std::string quick_check(const workloads::LockEntry& lock, const std::vector<Consistency>& consistencies = kAllConsistencies);

// "3 CPUs, 1 acquisition each: 2 write, 1 reads".
std::string case_text(const LockCase& one);

}  // namespace linebounce::sim
