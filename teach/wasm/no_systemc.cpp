// The page has no SystemC: machines run by themselves, with the same results.
#include "models/machine/machine.hpp"
#include "sim/systemc/run.hpp"

namespace linebounce::sim {

void run_in_systemc(Machine& machine, const std::function<void(double)>& progress) {
  machine.run(progress);
}

}  // namespace linebounce::sim
