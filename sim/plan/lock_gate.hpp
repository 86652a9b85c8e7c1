// Keeps locks from files out of simulations if they break in a quick check: a lock that doesn't exclude only looks fast.
#pragma once

#include "sim/plan/plan.hpp"
#include "workloads/locks/lock_registry.hpp"

namespace linebounce::sim {

// Takes about a second for a lock that passes. Errors: FailedElsewhere, with exit code 1 and the steps that break the lock.
void refuse_if_broken(const workloads::LockEntry& lock, const std::vector<Consistency>& consistencies);
// The same for each lock from a file that a point of the plan uses, under the memory models of the machines.
void refuse_broken_locks(const Plan& plan);

}  // namespace linebounce::sim
