// Linebounce's own speed: three cases, each timed against the functional-only mode in one process.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "models/coherence/protocol.hpp"
#include "models/machine_spec.hpp"
#include "sim/bench/reference_stream.hpp"

namespace linebounce {

struct BenchResult {
  std::string name;
  int cpus = 0;
  double timed_refs_per_s = 0;
  double functional_refs_per_s = 0;
  double ratio = 0;
  double kernel_events_per_transaction = 0;  // 0 where there are next to no transactions
};

// private, mixed, contended.
std::span<const BenchCase> bench_cases();

// One case on `spec` with `cpus` CPUs. Builds a simulation: once in a process.
BenchResult run_bench_case(const BenchCase& bench_case, MachineSpec spec, const Protocol& protocol, int cpus);

}  // namespace linebounce
