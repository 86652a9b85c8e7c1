// A protocol file's tables, each cell still as its author wrote it: what stands where, before any name is looked up.
#pragma once

#include <string>
#include <vector>

#include "models/coherence/diagnostics.hpp"
#include "models/coherence/markdown.hpp"
#include "models/coherence/protocol.hpp"

namespace linebounce {

// One row of a table that declares something: a property, a message, a state, an event. `detail` is the second of three
// columns, or the third of four; then `message_class` is the second.
struct Declaration {
  int line = 0;
  std::string name, detail, meaning;
  std::string message_class = {};
};

// One row of a table of transitions.
struct TransitionText {
  int line = 0;
  std::string in, on, actions, then, why;
};

struct ControllerSource {
  std::string name;  // "cache", "memory", "directory", "node" or "group"
  int line = 1;      // of its heading
  std::vector<Declaration> states;
  std::vector<Declaration> events;  // detail: the guard group's words, "shared|alone", or empty
  std::vector<TransitionText> transitions;
};

struct ProtocolSource {
  ProtocolKind kind = ProtocolKind::bus;
  std::string title;
  std::vector<Declaration> properties;  // the value is in `meaning`
  int properties_line = 1;
  std::vector<Declaration> messages;  // detail: "yes" or "no", whether it carries data
  int messages_line = 1;
  ControllerSource cache, memory, directory, node, group;  // those that the kind has
};

// Errors, into `diagnostics`: a missing section or table, a table that no section has, a name that is no name or stands twice.
ProtocolSource read_protocol_source(const MarkdownDocument& document, Diagnostics& diagnostics);

}  // namespace linebounce
