// What happened on the way to a broken property, for people: step by step, and as a message-sequence diagram.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/coherence/checker/check_protocol.hpp"

namespace linebounce {

// One step as it was seen: column i is cache i, the last one is memory.
struct ReplayedStep {
  CheckStep step;
  std::optional<MessageId> message;             // of an order step
  int supplier = kNobody;                       // of a data step: a cache or kMemory
  std::uint8_t data = 0;                        // of a data step: what is on the bus
  std::vector<std::vector<std::string>> notes;  // by column: "S -> I", "sends 1", ...
  std::vector<std::vector<int>> rows;           // by column: the lines of the protocol's file whose rows ran
  std::vector<std::string> states;              // by column, after the step
  std::vector<int> values;                      // likewise: what a load would find here, -1 for nothing; memory's data
};

// REQUIRES: `violation` was found in this protocol with these options.
std::vector<ReplayedStep> replay(const Protocol& protocol, const CheckOptions& options, const Violation& violation);

// By column, before the first step.
std::vector<std::string> start_states(const Protocol& protocol, int caches);

// Time goes down, one column for each cache and one for memory; ends with what is broken. For three caches under 100 characters
// wide.
std::string message_diagram(const Protocol& protocol, const CheckOptions& options, const Violation& violation);

// "single writer or many readers", as in a sentence.
std::string property_text(Property property);

}  // namespace linebounce
