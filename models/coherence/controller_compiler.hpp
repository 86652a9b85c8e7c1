// Compiles one controller's tables to a dense table of rows: names become ids, cells become actions.
#pragma once

#include "models/coherence/diagnostics.hpp"
#include "models/coherence/protocol.hpp"
#include "models/coherence/protocol_source.hpp"

namespace linebounce {

// A compiled table, with the facts about its text that later checks need.
struct CompiledController {
  ControllerTable table;
  std::vector<int> state_lines;  // where each state is declared
  std::vector<bool> named;       // [state][event]: whether a row names the pair
};

// REQUIRES: protocol's kind, bus and messages are complete. Reports into `diagnostics`: errors in cells, missing or unknown
// events, and pairs that two rows name.
CompiledController compile_cache(const ControllerSource& source, const Protocol& protocol, Diagnostics& diagnostics);
CompiledController compile_memory(const ControllerSource& source, const Protocol& protocol, Diagnostics& diagnostics);
CompiledController compile_directory(const ControllerSource& source, const Protocol& protocol, Diagnostics& diagnostics);
CompiledController compile_node(const ControllerSource& source, const Protocol& protocol, Diagnostics& diagnostics);
CompiledController compile_group(const ControllerSource& source, const Protocol& protocol, Diagnostics& diagnostics);

}  // namespace linebounce
