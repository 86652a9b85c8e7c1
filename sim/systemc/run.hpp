// Runs a machine as a module of a SystemC simulation.
#pragma once

#include <functional>

namespace linebounce {
class Machine;
}

namespace linebounce::sim {

class SystemCKernel;

// Loads SystemC if this process has not done so. Errors: ConfigError.
SystemCKernel& systemc_kernel();

// Does the same as machine.run(progress), driven by sc_start(). REQUIRES: no other thread runs a machine this way, because
// SystemC has one simulation for each process. Errors: as machine.run(), and systemc_kernel().
void run_in_systemc(Machine& machine, const std::function<void(double)>& progress);

}  // namespace linebounce::sim
