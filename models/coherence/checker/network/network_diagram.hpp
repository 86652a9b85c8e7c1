// What happened on the way to a broken property on a network, for people: step by step, and as a message-sequence diagram.
#pragma once

#include <string>
#include <vector>

#include "models/coherence/checker/network/check_network.hpp"

namespace linebounce {

// One step as it was seen. Columns: for each node its caches and then its controller, or each cache of a directory; last the
// home.
struct ReplayedNetworkStep {
  NetworkStep step;
  std::string text;                             // "Store 1", "GetS", "data 0"
  std::size_t from = 0;                         // columns: of a message, its sender; else where it happens
  std::size_t first = 0, last = 0;              // that it reaches; both `from` where nothing is sent
  bool passes = true;                           // it reaches only the ends
  std::vector<std::vector<std::string>> notes;  // by column: "S -> I", "sends Data", ...
  std::vector<std::vector<int>> rows;           // by column: the lines whose rows ran, of the file that is checked
  std::vector<std::string> states;              // by column, after the step
};

// The headings of the columns.
std::vector<std::string> network_columns(const NetworkProtocols& protocols, const NetworkCheckOptions& options);

// By column, before the first step.
std::vector<std::string> network_start_states(const NetworkProtocols& protocols, const NetworkCheckOptions& options);

// REQUIRES: `violation` was found in these protocols with these options.
std::vector<ReplayedNetworkStep> replay(const NetworkProtocols& protocols, const NetworkCheckOptions& options,
                                        const NetworkViolation& violation);

// Ends with what is broken.
std::string message_diagram(const NetworkProtocols& protocols, const NetworkCheckOptions& options,
                            const NetworkViolation& violation);

}  // namespace linebounce
