// Compiles one controller's tables, as a file gives them, to a dense table of rows. Names become ids, and cells become actions.
#pragma once

#include "models/coherence/diagnostics.hpp"
#include "models/coherence/protocol.hpp"
#include "models/coherence/protocol_source.hpp"

namespace linebounce {

// A compiled table, with facts about the file's text that later checks need.
struct CompiledController {
  ControllerTable table;
  std::vector<int> state_lines;  // the line that declares each state, by StateId
  std::vector<bool> named;       // indexed [state][event]; true if a row names the pair
};

// Compiles one controller. Reports into `diagnostics`: errors in cells, missing or unknown events, (state, event) pairs that
// two rows name, and rows that repeat an inherited one. REQUIRES: protocol.kind, .bus and .messages are set.
CompiledController compile_controller(Controller controller, const ControllerSource& source, const Protocol& protocol,
                                      Diagnostics& diagnostics);

}  // namespace linebounce
