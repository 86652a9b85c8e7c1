// Runs a machine as a module of a SystemC simulation.
#pragma once

#include <functional>

namespace linebounce {
class Machine;
}

namespace linebounce::sim {

class SystemCKernel;

// Returns this process's SystemC kernel, and loads it on the first call. Errors: ConfigError if it is missing.
SystemCKernel& systemc_kernel();

// Like machine.run(progress), but sc_start() drives the run. REQUIRES: no other thread does the same, because a process has
// only one SystemC simulation. Errors: as machine.run() and systemc_kernel().
void run_in_systemc(Machine& machine, const std::function<void(double)>& progress);

}  // namespace linebounce::sim
