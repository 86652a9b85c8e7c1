// Judges how good a calibration is, and whether another machine could fit better.
#pragma once

#include <string>

#include "commands/calibrate/calibration.hpp"

namespace linebounce::sim {

// The origin of the fitted machine's nodes, buses and threads.
enum class StructureFrom {
  matrix,           // the matrix itself; positions of cores were searched, too
  machine,          // the user's machine, which agrees with what the matrix shows
  another_machine,  // the user's machine, although the matrix shows another structure
};

// The kinds of pairs that are so far off that the machine would mislead: "one core: 10.1 ns measured, 0.3 ns simulated";
// empty: none.
std::string far_off(const Calibration& calibration);

// Sentences; empty if the fit is good and nothing contradicts it. REQUIRES: `calibration` is complete except for its verdict.
std::string verdict_on(const Calibration& calibration, StructureFrom structure);

// A sentence on the pair of CPUs for which linebounce-probe's own rows differ most: its hand-off in the matrix, and the
// addition to a line that the other has just written, which are the same. Empty: none differs by more than 15 %.
std::string on_rows_that_differ(const ProbeFile& probe);

}  // namespace linebounce::sim
