// The cases in which a lock is searched: which CPUs take it, how, and how often.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/interleavings/lock_search.hpp"

namespace linebounce::sim {

inline const std::vector<Consistency> kAllConsistencies = {Consistency::sc, Consistency::tso, Consistency::ia64};

// The limit for each case in a quick check, which takes about a second in total.
inline constexpr std::uint64_t kQuickStates = 400;

struct CaseOptions {
  std::vector<Consistency> consistencies = kAllConsistencies;
  int cpus = 0, acquisitions = 0;  // 0: several small cases
};

// All that a lock offers: writers, readers, tries. The smallest cases come first.
std::vector<LockCase> lock_cases(const workloads::LockEntry& lock, const CaseOptions& options);

// The default cases of check-lock, cut to about a second: the smallest ones, each up to a limit of states. Returns how the lock
// breaks under one of these memory models, with the steps that lead to it, as lines. Empty if nothing was found, or if the lock
// can't be searched. Errors: LuaError, for a file that can't be set up.
std::string quick_check(const workloads::LockEntry& lock, const std::vector<Consistency>& consistencies = kAllConsistencies);

// "3 CPUs, 1 acquisition each: 2 write, 1 reads".
std::string case_text(const LockCase& one);

}  // namespace linebounce::sim
