// The grammar of the column `do`: the actions, and the events at which each is legal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/coherence/diagnostics.hpp"
#include "models/coherence/protocol.hpp"

namespace linebounce {

// The kinds of events, by the actions that are legal at them. Bits, so that an action can name several.
enum EventKind : std::uint16_t {
  at_load = 1,
  at_store = 2,
  at_evict = 4,
  at_data = 8,             // the requestor's data step
  at_own = 16,             // the requestor's order step
  at_other = 32,           // a snooper's order step
  at_memory_message = 64,  // memory's order step
  at_memory_data = 128,    // data that a cache sent to memory
  // A node controller's: a bus transaction asks to be ordered; its own transaction was; a line must leave its cache.
  at_ask = 256,
  at_recalled = 512,
  at_node_evict = 1024,
  // A network message at a node or cache, and at a directory.
  at_agent_message = 2048,
  at_directory_message = 4096,
  at_directory_evict = 8192,  // a directory's entry must make room for another line's
  // A group controller's: a member's message, and a line that must leave its cache or filter. Messages from outside are
  // at_agent_message.
  at_member_message = 16384,
  at_group_evict = 32768
};

struct RowActions {
  bool impossible = false;
  std::vector<Action> steps;
};

// Parses a cell such as "assert shared; send data to requestor, memory". Returns nothing after an error: an unknown action or
// message, too many actions, one twice, or `hit`, `stall` or `impossible` beside another.
std::optional<RowActions> parse_actions(const std::string& cell, int line, const Protocol& protocol, Diagnostics& diagnostics);

// Errors: an action that is illegal at this kind of event; a processor's access without an answer.
void check_actions_fit(const RowActions& actions, EventKind kind, const std::string& event, int line, const Protocol& protocol,
                       Diagnostics& diagnostics);

// The action as the file spells it.
std::string action_text(Action action, const Protocol& protocol);

}  // namespace linebounce
