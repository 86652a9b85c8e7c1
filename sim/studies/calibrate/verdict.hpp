// Judges how good a calibration is, and whether another machine could fit better.
#pragma once

#include <string>

#include "sim/studies/calibrate/calibration.hpp"

namespace linebounce::sim {

// Where the fitted machine's nodes, buses and threads come from.
enum class StructureFrom {
  matrix,           // the matrix itself; the cores' positions were searched too
  machine,          // a given machine, which agrees with what the matrix shows
  another_machine,  // a given machine; CPUs that share a core there may not share one in the matrix
};

// Sentences; empty if the fit is good and nothing disagrees. REQUIRES: `calibration` is complete except for its verdict.
std::string verdict_on(const Calibration& calibration, StructureFrom structure);

}  // namespace linebounce::sim
