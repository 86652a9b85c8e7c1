// How good a calibration is, and whether another machine could come nearer.
#pragma once

#include <string>

#include "sim/studies/calibrate/calibration.hpp"

namespace linebounce::sim {

// Whose nodes, buses and threads were fitted.
enum class StructureFrom {
  matrix,           // what the matrix shows; positions of cores were looked for
  machine,          // a given machine's, and the matrix shows the same
  another_machine,  // a given machine's; CPUs that share a core there need not share one in the matrix
};

// Sentences; empty where the fit is good and nothing disagrees. `calibration` has all but its verdict.
std::string verdict_on(const Calibration& calibration, StructureFrom structure);

}  // namespace linebounce::sim
