// From one controller's tables as text to its dense table of rows: names become ids, cells become actions.
#pragma once

#include "models/coherence/diagnostics.hpp"
#include "models/coherence/protocol.hpp"
#include "models/coherence/protocol_source.hpp"

namespace linebounce {

// What the checks need to know about a table besides the table.
struct CompiledController {
  ControllerTable table;
  std::vector<int> state_lines;  // where each state is declared
  std::vector<bool> named;       // [state][event]: some row names this pair
};

// REQUIRES: protocol's kind, bus and messages are complete. Errors, into `diagnostics`: whatever a cell can be wrong about, an
// event that is missing or unknown, and a pair that two rows name.
CompiledController compile_controller(Controller controller, const ControllerSource& source, const Protocol& protocol,
                                      Diagnostics& diagnostics);

}  // namespace linebounce
