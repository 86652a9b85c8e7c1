// The result of `calibrate`, for the terminal.
#pragma once

#include <string>

#include "commands/calibrate/calibration.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

std::string calibration_report(const Calibration& calibration, const Painter& paint);

}  // namespace linebounce::sim
