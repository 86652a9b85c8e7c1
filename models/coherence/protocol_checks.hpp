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

// Fills in every member that protocol.hpp calls derived.
void derive_facts(Protocol& protocol);

}  // namespace linebounce
