// How good a calibration is, and whether another machine could come nearer.
#pragma once

#include <string>

#include "sim/studies/calibrate/calibration.hpp"

namespace linebounce::sim {

// Whose nodes, buses and threads were fitted: what the matrix shows (positions of cores were looked for, too); a given
// machine's, and the matrix shows the same; or a given machine's, where CPUs that share a core need not share one in the
// matrix.
enum class StructureFrom { matrix, machine, another_machine };

// Sentences; empty where the fit is good and nothing disagrees. `calibration` has all but its verdict.
std::string verdict_on(const Calibration& calibration, StructureFrom structure);

}  // namespace linebounce::sim
