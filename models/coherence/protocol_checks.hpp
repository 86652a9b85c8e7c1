// Checks a protocol's tables after compilation, and derives facts from them.
#pragma once

#include "models/coherence/controller_compiler.hpp"
#include "models/coherence/diagnostics.hpp"
#include "models/coherence/protocol.hpp"
#include "models/coherence/protocol_source.hpp"

namespace linebounce {

// Reports each (state, event) pair that no row names.
void check_total(const CompiledController& controller, Diagnostics& diagnostics);

// Reports each state that the initial state doesn't lead to. REQUIRES: check_total() found no error.
void check_reachable(const CompiledController& controller, Diagnostics& diagnostics);

// Checks the messages of a bus. Reports a message that no row issues. Reports a message that is declared with data but sends
// none, and one that is declared without data but sends some. Reports a row that issues a message whose Own_ event is
// impossible in the next state, and errors in Atomic's rows. REQUIRES: check_total() found no error.
void check_messages(const Protocol& protocol, const ProtocolSource& source, Diagnostics& diagnostics);

// Checks the messages of a network, node or group. `directory` is the protocol that a node or group works with, else null.
// Reports a message that is never sent, and one that is sent to a controller that never receives it. Reports a row that uses
// data although its message has none. Reports two causes of deadlock: a message that causes one of its own or an earlier class,
// and a stall that only messages of the stalled message's own or an earlier class could end.
void check_network_messages(const Protocol& protocol, const Protocol* directory, const ProtocolSource& source,
                            Diagnostics& diagnostics);

// Fills in every member that protocol.hpp calls derived.
void derive_facts(Protocol& protocol);

}  // namespace linebounce
