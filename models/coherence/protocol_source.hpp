// A protocol file's tables, each cell still as its author wrote it: what stands where, before any name is looked up.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "models/coherence/diagnostics.hpp"
#include "models/coherence/markdown.hpp"
#include "models/coherence/protocol.hpp"
#include "models/ordinal.hpp"

namespace linebounce {

// One row of a table that declares something: a property, a message, a state, an event. `detail` is the second of three
// columns, or the third of four; then `message_class` is the second.
struct Declaration {
  int line = 0;
  std::string name, detail, meaning;
  std::string message_class = {};
};

struct ControllerSource {
  std::string name;  // "cache", "memory", "directory", "node" or "group"
  int line = 1;      // of its heading
  std::vector<Declaration> states;
  std::vector<Declaration> events;      // detail: the guard group's words, "shared|alone", or empty
  std::vector<WrittenRow> transitions;  // a file's own before inherited ones
  std::vector<Declaration> without;     // states and events that are gone; rows of files behind this one may name them
};

struct ProtocolSource {
  ProtocolKind kind = ProtocolKind::bus;
  std::string title;
  std::vector<Declaration> properties;  // the value is in `meaning`
  int properties_line = 1;
  std::vector<Declaration> messages;  // detail: "yes" or "no", whether it carries data
  int messages_line = 1;
  std::array<ControllerSource, kControllers> controllers;  // by Controller; one that the protocol doesn't have has no name

  [[nodiscard]] const ControllerSource& of(Controller controller) const { return controllers[ordinal(controller)]; }
};

// Errors, into `diagnostics`: a missing section or table, a table that no section has, a name that is no name or stands twice.
// `base`: what the file extends, or null; an error then, too: to declare again what is inherited just so.
ProtocolSource read_protocol_source(const MarkdownDocument& document, const ProtocolSource* base, Diagnostics& diagnostics);

}  // namespace linebounce
