// Refuses to simulate a lock from a file if a quick check breaks it: a lock that does not exclude looks fast.
#pragma once

#include "sim/plan/plan.hpp"
#include "workloads/locks/lock_registry.hpp"

namespace linebounce::sim {

// Takes about a second for a correct lock. Errors: FailedElsewhere, with exit code 1, after printing the steps that break the
// lock.
void refuse_if_broken(const workloads::LockEntry& lock, const std::vector<Consistency>& consistencies);
// Checks each lock from a file that the plan's points use, under the memory models of the machines that run it.
void refuse_broken_locks(const Plan& plan);

}  // namespace linebounce::sim
