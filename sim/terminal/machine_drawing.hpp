// Draws a machine for the terminal.
#pragma once

#include <string>

#include "models/machine_spec.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

// Draws CPUs with their caches, the bus below them, and memory below that, with sizes and latencies in the boxes. For a
// machine with several nodes or buses: first one bus with its cores and its controller, then the nodes with their buses and
// memory on the network, their distances, and the operating system's nodes. If the boxes don't fit into `columns`, only the
// first ones and the last one are drawn. REQUIRES: the machine has been checked.
std::string draw_topology(const MachineSpec& machine, std::size_t columns = kTerminalWidth);

// The operating system's nodes with CPUs in use: "2 nodes: CPU 0, 2, 4 ... 62; CPU 1, 3, 5 ... 63", "16 nodes of 8 CPUs".
std::string os_nodes_text(const MachineSpec& machine);

// "700 MHz", "666.7 MHz".
std::string frequency_text(const Frequency& frequency);

// "16 KiB", "1 MiB".
std::string size_text(int kib);

}  // namespace linebounce::sim
