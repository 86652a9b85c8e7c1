// Runs a machine as a module of a SystemC simulation.
#pragma once

#include <functional>

namespace linebounce {
class Machine;
}

namespace linebounce::sim {

class SystemCKernel;

// Loads SystemC, unless this process has done so before. Errors: ConfigError.
SystemCKernel& systemc_kernel();

// As machine.run(progress), but driven by sc_start(). REQUIRES: no other thread runs a machine in this way, because a process
// has only one SystemC simulation. Errors: as machine.run() and systemc_kernel().
void run_in_systemc(Machine& machine, const std::function<void(double)>& progress);

}  // namespace linebounce::sim
