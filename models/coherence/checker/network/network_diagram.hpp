// Shows a network's counterexample, that is, the steps to a violated property, as a list and as a message-sequence diagram.
#pragma once

#include <string>
#include <vector>

#include "models/coherence/checker/network/check_network.hpp"

namespace linebounce {

// One step of a counterexample. With nodes, each node has a column for each cache and then one for its controller. Without
// nodes, there is a column for each cache. The last column stands for the home.
struct ReplayedNetworkStep {
  NetworkStep step;
  std::string text;  // what the step does: "Store 1", "GetS", "data 0"
  // The column of the message's sender; in a step without a message, the column of the controller that acts.
  std::size_t from = 0;
  std::size_t first = 0, last = 0;  // the columns between which the message travels; without a message, both are `from`
  bool passes = true;               // true if the message reaches only `first` and `last`, not the columns between
  std::vector<std::vector<std::string>> notes;  // by column: texts such as "S -> I" and "sends Data"
  std::vector<std::vector<int>> rows;           // by column: the rows that ran, as line numbers of the checked protocol's file
  std::vector<std::string> states;              // the states after the step, by column
};

// The columns' headings.
std::vector<std::string> network_columns(const NetworkProtocols& protocols, const NetworkCheckOptions& options);

// The states before the first step, by column.
std::vector<std::string> network_start_states(const NetworkProtocols& protocols, const NetworkCheckOptions& options);

// REQUIRES: `violation` was found in these protocols with these options.
std::vector<ReplayedNetworkStep> replay(const NetworkProtocols& protocols, const NetworkCheckOptions& options,
                                        const NetworkViolation& violation);

// Draws the steps to the violation, and at the end describes the violation.
std::string message_diagram(const NetworkProtocols& protocols, const NetworkCheckOptions& options,
                            const NetworkViolation& violation);

}  // namespace linebounce
