// The grammar of the column `do` in a protocol file: the actions, and the kinds of events in whose rows each action is legal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/coherence/diagnostics.hpp"
#include "models/coherence/protocol.hpp"

namespace linebounce {

// Event kinds, grouped by which actions are legal in them. Bit flags, so that an action can list several kinds.
enum EventKind : std::uint16_t {
  at_load = 1,
  at_store = 2,
  at_evict = 4,
  at_data = 8,                  // the requestor receives its data in the data step
  at_own = 16,                  // the requestor sees its own message in the order step
  at_other = 32,                // a snooper sees another cache's message in the order step
  at_memory_message = 64,       // memory sees a message in the order step
  at_memory_data = 128,         // memory receives data that a cache sent
  at_ask = 256,                 // a node controller is asked whether a bus transaction may be ordered
  at_recalled = 512,            // a node controller's own bus transaction was ordered
  at_node_evict = 1024,         // a line must leave a node controller's cache
  at_agent_message = 2048,      // a cache or node controller receives a network message, or a group controller one from outside
  at_directory_message = 4096,  // a directory receives a network message
  at_directory_evict = 8192,    // a directory's entry must make room for another line's entry
  at_member_message = 16384,    // a group controller receives a member's message
  at_group_evict = 32768        // a line must leave a group controller's cache or filter
};

struct RowActions {
  bool impossible = false;
  std::vector<Action> steps;
};

// Parses a cell such as "assert shared; send data to requestor, memory". Reports an error and returns nothing if an action or
// message is unknown, there are too many actions, one is repeated, or `hit`, `stall` or `impossible` is not alone.
std::optional<RowActions> parse_actions(const std::string& cell, int line, const Protocol& protocol, Diagnostics& diagnostics);

// Reports each action that is illegal for this kind of event, and a processor's access that no action answers.
void check_actions_fit(const RowActions& actions, EventKind kind, const std::string& event, int line, const Protocol& protocol,
                       Diagnostics& diagnostics);

// Spells the action as protocol files do.
std::string action_text(Action action, const Protocol& protocol);

}  // namespace linebounce
