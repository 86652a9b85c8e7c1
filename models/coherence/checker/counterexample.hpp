// Shows a counterexample, that is, the steps to a violated property, as a list and as a message-sequence diagram.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/coherence/checker/check_protocol.hpp"

namespace linebounce {

// One step of a counterexample. Column i stands for cache i, and the last column for memory.
struct ReplayedStep {
  CheckStep step;
  std::optional<MessageId> message;             // in an order step: the message that is ordered
  int supplier = kNobody;                       // in a data step: the cache that supplied the data, or kMemory
  std::uint8_t data = 0;                        // in a data step: the value on the bus
  std::vector<std::vector<std::string>> notes;  // by column: texts such as "S -> I" and "sends 1"
  std::vector<std::vector<int>> rows;           // by column: the rows that ran, as line numbers of the protocol's file
  std::vector<std::string> states;              // the states after the step, by column
  std::vector<int> values;                      // by column, after the step: the value in the copy, or -1 if not readable
};

// REQUIRES: `violation` was found in this protocol with these options.
std::vector<ReplayedStep> replay(const Protocol& protocol, const CheckOptions& options, const Violation& violation);

// The states before the first step, by column.
std::vector<std::string> start_states(const Protocol& protocol, int caches);

// Draws the steps, with time running downwards and one column for each cache and one for memory. The violation follows at the
// end. With three caches, the lines are shorter than 100 characters.
std::string message_diagram(const Protocol& protocol, const CheckOptions& options, const Violation& violation);

// The property as a phrase, such as "single writer or many readers".
std::string property_text(Property property);

}  // namespace linebounce
