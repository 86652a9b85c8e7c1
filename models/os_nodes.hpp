// The operating system's nodes. Firmware forms them by settings such as AMD's NUMA nodes per socket and "L3 as NUMA domain", so
// they need not be the nodes of the interconnect.
#pragma once

#include <string_view>
#include <vector>

#include "models/machine_spec.hpp"

namespace linebounce {

struct CpuPlace;
struct MachineLayout;

// The words of machine.os_nodes; a list of numbers is legal, too, and so is nothing, for the interconnect's nodes.
constexpr std::string_view kOsNodeOfMachine = "machine";  // one for all CPUs
constexpr std::string_view kOsNodeOfHalf = "nps2";        // two for each node of the interconnect
constexpr std::string_view kOsNodeOfQuarter = "nps4";     // four
constexpr std::string_view kOsNodeOfCache = "cache";      // one for each last-level cache

// Sets `cache` and `os_node` of all cores, and the layout's memory_of_os_node and os_node_of_node. `cores`: all cores, in use
// or not, with `core` counted in their bus. Errors: std::invalid_argument, with a text for the user, if the machine's os_nodes
// does not fit it.
void set_os_nodes(const MachineSpec& spec, int cores_per_bus, std::vector<CpuPlace>& cores, MachineLayout& layout);

}  // namespace linebounce
