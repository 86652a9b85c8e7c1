// Counterexamples on a network, for people: the steps to a violated property, as a list and as a message-sequence diagram.
#pragma once

#include <string>
#include <vector>

#include "models/coherence/checker/network/check_network.hpp"

namespace linebounce {

// One step of a counterexample. The columns are each node's caches and then its controller, or the caches of a directory, and
// last the home.
struct ReplayedNetworkStep {
  NetworkStep step;
  std::string text;                             // "Store 1", "GetS", "data 0"
  std::size_t from = 0;                         // the column of a message's sender, or of the step itself
  std::size_t first = 0, last = 0;              // the columns that a message reaches; both are `from` without one
  bool passes = true;                           // it reaches only `first` and `last`, not the columns between
  std::vector<std::vector<std::string>> notes;  // by column: "S -> I", "sends Data", ...
  std::vector<std::vector<int>> rows;           // by column: the rows that ran, as line numbers of the checked file
  std::vector<std::string> states;              // by column, after the step
};

// The columns' headings.
std::vector<std::string> network_columns(const NetworkProtocols& protocols, const NetworkCheckOptions& options);

// The states by column before the first step.
std::vector<std::string> network_start_states(const NetworkProtocols& protocols, const NetworkCheckOptions& options);

// REQUIRES: `violation` was found in these protocols with these options.
std::vector<ReplayedNetworkStep> replay(const NetworkProtocols& protocols, const NetworkCheckOptions& options,
                                        const NetworkViolation& violation);

// Ends with the violation.
std::string message_diagram(const NetworkProtocols& protocols, const NetworkCheckOptions& options,
                            const NetworkViolation& violation);

}  // namespace linebounce
