// Linebounce's own speed: three cases, each timed against the functional-only mode in one process.
#pragma once

#include <span>
#include <string>

#include "models/machine/machine_protocols.hpp"
#include "models/machine_spec.hpp"
#include "sim/bench/reference_stream.hpp"

namespace linebounce::sim {

struct BenchResult {
  std::string name;
  int cpus = 0;
  double timed_refs_per_s = 0;
  double functional_refs_per_s = 0;          // 0: not run
  double ratio = 0;                          // likewise
  double transactions_per_s = 0;             // accesses that the core's caches could not serve, with all that they cause
  double kernel_events_per_transaction = 0;  // 0 where there are next to none
};

// private, mixed, contended.
std::span<const BenchCase> bench_cases();

// One case on this machine with all its CPUs, in both modes or in the timed one alone. Builds a simulation: once in a process.
BenchResult run_bench_case(const BenchCase& bench_case, const MachineSpec& spec, const MachineProtocols& protocols,
                           bool timed_only);

}  // namespace linebounce::sim
