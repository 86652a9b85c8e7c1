// A protocol file's tables, sorted by what they declare. The cells are still text; no name has been looked up yet.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "models/coherence/diagnostics.hpp"
#include "models/coherence/markdown.hpp"
#include "models/coherence/protocol.hpp"
#include "models/ordinal.hpp"

namespace linebounce {

// One row of a table that declares properties, messages, states or events. `detail` is the second of three columns. In a table
// of four columns `message_class` is the second and `detail` the third.
struct Declaration {
  int line = 0;
  std::string name, detail, meaning;
  std::string message_class = {};
};

struct ControllerSource {
  std::string name;  // "cache", "memory", "directory", "node" or "group"
  int line = 1;      // the line of the section's heading
  std::vector<Declaration> states;
  std::vector<Declaration> events;      // Declaration::detail has the guard words, such as "shared|alone", or is empty
  std::vector<WrittenRow> transitions;  // the file's own rows before inherited rows
  std::vector<Declaration> without;     // inherited states and events that the file removes; inherited rows may name them
};

struct ProtocolSource {
  ProtocolKind kind = ProtocolKind::bus;
  std::string title;
  std::vector<Declaration> properties;  // Declaration::meaning has the property's value
  int properties_line = 1;
  std::vector<Declaration> messages;  // Declaration::detail is "yes" if the message carries data, else "no"
  int messages_line = 1;
  std::array<ControllerSource, kControllers> controllers;  // indexed by Controller; `name` is empty if the protocol has none

  [[nodiscard]] const ControllerSource& of(Controller controller) const { return controllers[ordinal(controller)]; }
};

// Reads a file's tables and merges them into a copy of `base`, the source that the file extends; null if it extends none.
// Reports into `diagnostics`: a missing section or table, a table with unknown columns, an invalid name, a name declared twice,
// and a declaration that repeats the inherited one.
ProtocolSource read_protocol_source(const MarkdownDocument& document, const ProtocolSource* base, Diagnostics& diagnostics);

}  // namespace linebounce
