// Counterexamples for people: the steps to a violated property, as a list and as a message-sequence diagram.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/coherence/checker/check_protocol.hpp"

namespace linebounce {

// One step of a counterexample. Column i is cache i; the last column is memory.
struct ReplayedStep {
  CheckStep step;
  std::optional<MessageId> message;             // of an order step
  int supplier = kNobody;                       // of a data step: a cache or kMemory
  std::uint8_t data = 0;                        // of a data step: the value on the bus
  std::vector<std::vector<std::string>> notes;  // by column: "S -> I", "sends 1", ...
  std::vector<std::vector<int>> rows;           // by column: the rows that ran, as line numbers of the protocol's file
  std::vector<std::string> states;              // by column, after the step
  std::vector<int> values;                      // by column, after the step: the value that a load would find, or -1
};

// REQUIRES: `violation` was found in this protocol with these options.
std::vector<ReplayedStep> replay(const Protocol& protocol, const CheckOptions& options, const Violation& violation);

// The states by column before the first step.
std::vector<std::string> start_states(const Protocol& protocol, int caches);

// Draws time downwards, with a column for each cache and for memory, and the violation at the end. Three caches take less than
// 100 columns.
std::string message_diagram(const Protocol& protocol, const CheckOptions& options, const Violation& violation);

// The property as part of a sentence: "single writer or many readers".
std::string property_text(Property property);

}  // namespace linebounce
