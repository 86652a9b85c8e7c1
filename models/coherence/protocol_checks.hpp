// What can be said about a protocol's tables once every name in them is known.
#pragma once

#include "models/coherence/controller_compiler.hpp"
#include "models/coherence/diagnostics.hpp"
#include "models/coherence/protocol.hpp"
#include "models/coherence/protocol_source.hpp"

namespace linebounce {

// Errors: a pair of state and event without a row.
void check_total(const CompiledController& controller, Diagnostics& diagnostics);

// Errors: a state that no row leads to; on the whole: a message that nobody issues, one that is issued into a state that can't
// see it ordered, one whose table says wrongly whether it carries data. REQUIRES: tables are total.
void check_reachable(const CompiledController& controller, Diagnostics& diagnostics);
void check_messages(const Protocol& protocol, const ProtocolSource& source, Diagnostics& diagnostics);

// The same on a network (`directory`: a node's partner, else null). Errors: a message that nobody sends, or that is sent to
// somebody who never gets it; data that a row uses and the message does not carry; classes that wait for each other: a message
// that causes one of its own or of an earlier class, a stall that only such messages could end.
void check_network_messages(const Protocol& protocol, const Protocol* directory, const ProtocolSource& source,
                            Diagnostics& diagnostics);

// Fills in every member that protocol.hpp calls derived.
void derive_facts(Protocol& protocol);

// The same for a group with members and homes of this directory's protocol.
void check_group_messages(const Protocol& protocol, const Protocol& directory, Diagnostics& diagnostics);

}  // namespace linebounce
