// The words of the column `do`, and at which events each of them may stand.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/coherence/diagnostics.hpp"
#include "models/coherence/protocol.hpp"

namespace linebounce {

// What an event is, as far as the actions allowed at it depend on that. Bits, so that a word can name several.
enum EventKind : std::uint16_t {
  at_load = 1,
  at_store = 2,
  at_evict = 4,
  at_data = 8,             // the requestor's data step
  at_own = 16,             // the requestor's order step
  at_other = 32,           // a snooper's order step
  at_memory_message = 64,  // memory's order step
  at_memory_data = 128,    // data that a cache sent to memory
  // a node controller: may a transaction of its bus be ordered; its own one was; a line is to leave its cache
  at_ask = 256,
  at_recalled = 512,
  at_node_evict = 1024,
  // a message of a network, at a node or cache, and at a directory
  at_agent_message = 2048,
  at_directory_message = 4096,
  at_directory_evict = 8192,  // a directory: the place of a line's entry is needed for another line
  // at a group's controller: what a member sends, and a line is to leave its cache or filter; what comes from outside is as at
  // a node
  at_member_message = 16384,
  at_group_evict = 32768
};

struct RowActions {
  bool impossible = false;
  std::vector<Action> steps;
};

// Reads a cell such as "assert shared; send data to requestor, memory". Errors: an unknown action or message, too many actions,
// one twice, `hit`, `stall` or `impossible` beside another. Then nothing is returned.
std::optional<RowActions> parse_actions(const std::string& cell, int line, const Protocol& protocol, Diagnostics& diagnostics);

// Errors: an action that can't stand at such an event; an access by the processor that gets no answer.
void check_actions_fit(const RowActions& actions, EventKind kind, const std::string& event, int line, const Protocol& protocol,
                       Diagnostics& diagnostics);

// The action as it is written.
std::string action_text(Action action, const Protocol& protocol);

}  // namespace linebounce
