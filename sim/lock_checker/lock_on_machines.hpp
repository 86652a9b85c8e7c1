// A lock on random machines: whole simulated ones, with caches, protocols and time, where small cases in all interleavings have
// neither. A fuzzer, so it can only find.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "models/machine_spec.hpp"
#include "sim/plan/process_pool.hpp"
#include "workloads/locks/lock_registry.hpp"

namespace linebounce::sim {

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

}  // namespace linebounce::sim
