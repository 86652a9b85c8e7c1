// What `calibrate` found, for the terminal.
#pragma once

#include <string>

#include "sim/calibrate/calibration.hpp"
#include "sim/commands/terminal.hpp"

namespace linebounce {

std::string calibration_report(const Calibration& calibration, const Painter& paint);

}  // namespace linebounce
