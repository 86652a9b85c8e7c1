// Checks of a protocol's tables after compilation, and facts derived from them.
#pragma once

#include "models/coherence/controller_compiler.hpp"
#include "models/coherence/diagnostics.hpp"
#include "models/coherence/protocol.hpp"
#include "models/coherence/protocol_source.hpp"

namespace linebounce {

// Errors: a pair of state and event without a row.
void check_total(const CompiledController& controller, Diagnostics& diagnostics);

// Errors: a state that no row leads to; a message that no row issues, that is issued into a state without its own event, or
// whose declaration is wrong about data. REQUIRES: tables are total.
void check_reachable(const CompiledController& controller, Diagnostics& diagnostics);
void check_messages(const Protocol& protocol, const ProtocolSource& source, Diagnostics& diagnostics);

// Checks the messages of a network. `directory` is a node's partner, else null. Errors: a message that is never sent, or sent
// to a controller that never receives it; data that a row uses and the message does not carry; classes that may deadlock: a
// message that causes one of its own or an earlier class, or a stall that only such messages could end.
void check_network_messages(const Protocol& protocol, const Protocol* directory, const ProtocolSource& source,
                            Diagnostics& diagnostics);

// Fills in every member that protocol.hpp calls derived.
void derive_facts(Protocol& protocol);

// Checks the messages of a group whose members and homes run this directory's protocol.
void check_group_messages(const Protocol& protocol, const Protocol& directory, Diagnostics& diagnostics);

}  // namespace linebounce
