// `linebounce calibrate`. `import` calls it, too.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "forms/machine_topology.hpp"
#include "sim/plan/exit_code.hpp"

namespace linebounce::sim {

struct CalibrateArguments {
  std::string from;
  std::string as;  // the form of the file `from`; empty: recognised by its content
  std::string machine;
  std::string output;
  std::string access = "atomic";
  std::string family;
  std::string os_nodes;                     // the operating system's nodes; empty: those of the structure
  std::optional<int> mhz;                   // CPU clock in MHz, for a file that counts cycles
  std::string topology;                     // a file for read_structure(); empty: the structure is derived from the matrix
  std::vector<std::string> topologies_too;  // further descriptions of that machine, for what the first one lacks
  bool anyway = false;                      // write the machine even if a kind of pairs is far off
  int at_once = 1;
};

// Reads a machine's structure from the output of lscpu or lstopo, or from a list of NUMA nodes. Errors: ConfigError,
// TraceError.
MachineTopology read_structure(const std::string& file);

// Adds to `topology` what another file says of the same machine: its processor, clock and caches. Errors: as read_structure(),
// but the file need not say which CPUs share a core.
void add_description(MachineTopology& topology, const std::string& file);

// The help of --os-nodes.
inline constexpr const char* kOsNodesHelp =
    "The operating system's nodes, as the firmware forms them: machine (one for all), nps2, nps4 (2 or 4 in each node of "
    "the machine), cache (one for each last-level cache), or a number for each bus; default: the machine's nodes";

// Fits a machine, writes it and prints how well it fits. Errors: ConfigError.
ExitCode run_calibrate(const CalibrateArguments& arguments);

// Throws a ConfigError: MLC's output, without a file that says which CPUs its nodes have, makes no machine.
[[noreturn]] void refuse_mlc_alone(const MlcLatencies& mlc, const std::string& file);

// Writes latencies under load, to which nothing is fitted, beside the machine's file `machine`: MINE.loaded.csv. Adds the row
// to `losses` that says so. Returns a line with the command that scores them; empty if there are none.
std::string keep_as_prediction(const std::vector<LoadedLatency>& loaded, const std::string& machine, Losses& losses);

}  // namespace linebounce::sim
