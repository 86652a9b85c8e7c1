// Draws a machine for the terminal.
#pragma once

#include <string>

#include "models/machine_spec.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

// Draws CPUs with their caches, the bus below them, and memory below that, with sizes and latencies in the boxes. For a
// machine with several nodes or buses: first one bus with its cores and its controller, then the nodes with their buses and
// memory on the network, then their distances. If the boxes don't fit into `columns`, only the first ones and the last one
// are drawn. REQUIRES: the machine has been checked.
std::string draw_topology(const MachineSpec& machine, std::size_t columns = kTerminalWidth);

// "700 MHz", "666.7 MHz".
std::string frequency_text(const Frequency& frequency);

// "16 KiB", "1 MiB".
std::string size_text(int kib);

}  // namespace linebounce::sim
