// Derives from a controller's rows which variables of a line, and which parts of a message, the rows read. Protocol files
// therefore need not declare this.
#pragma once

#include <vector>

#include "models/coherence/controller_entry.hpp"

namespace linebounce {

// True if the verb sends a message over a network.
bool sends_to_network(Verb verb);

// Which parts of a message its receiver's rows read.
struct MessageUse {
  bool requestor = false, source = false, acks = false, data = false;
};

// Which variables of a controller are live in a state, that is, which a row may read before they are set again.
struct Live {
  bool data = false, member = false, requestor = false, owner = false, sharers = false;
};
using LiveByState = std::vector<Live>;

// Indexed by state. REQUIRES: the table has states.
LiveByState live_variables(const ControllerRules& rules);

// Returns the parts of the message that the receiver's rows read when the message arrives from `side`; none if it never does.
MessageUse use_of(const ControllerRules& receiver, Side side, MessageId message);

}  // namespace linebounce
