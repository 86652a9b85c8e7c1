// Judges a calibration, and whether another machine could come nearer.
#pragma once

#include <string>

#include "sim/studies/calibrate/calibration.hpp"

namespace linebounce::sim {

// The origin of the fitted nodes, buses and threads.
enum class StructureFrom {
  matrix,           // the matrix's own structure; positions of cores were searched
  machine,          // a given machine's, and the matrix shows the same
  another_machine,  // a given machine's; its CPUs of a core need not share one in the matrix
};

// Sentences; empty if the fit is good and nothing disagrees. REQUIRES: `calibration` is complete except for its verdict.
std::string verdict_on(const Calibration& calibration, StructureFrom structure);

}  // namespace linebounce::sim
