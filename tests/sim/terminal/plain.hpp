#pragma once

#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

inline const Painter kPlain(false, kTerminalWidth);  // without colours; tables as wide as in a file

}  // namespace linebounce::sim
