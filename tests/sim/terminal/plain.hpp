#pragma once

#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

inline const Painter kPlain(false, kTerminalWidth);  // without colours, and as wide as for a file

}  // namespace linebounce::sim
