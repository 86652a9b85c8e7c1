// Parses a protocol file in stages: Markdown, declarations, rows, checks. A stage runs only if the previous stage found no
// error, so that one mistake is not reported twenty times.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "models/coherence/controller_compiler.hpp"
#include "models/coherence/diagnostics.hpp"
#include "models/coherence/markdown.hpp"
#include "models/coherence/protocol.hpp"
#include "models/coherence/protocol_checks.hpp"
#include "models/coherence/protocol_source.hpp"

namespace linebounce {
namespace {

constexpr std::size_t kMaxMessages = 60;  // a cache has two or more events for each message, and an event's id is a byte

void set_bus(Protocol& protocol, const Declaration& property, Diagnostics& diagnostics) {
  if (property.meaning == "split") {
    protocol.bus = BusKind::split;
  } else if (property.meaning == "atomic") {
    protocol.bus = BusKind::atomic;
  } else {
    diagnostics.error(property.line, fmt::format("bus is 'split' or 'atomic', not '{}'", property.meaning));
  }
}

void set_invariants(Protocol& protocol, const Declaration& property, Diagnostics& diagnostics) {
  for (const std::string& name : split(property.meaning, ',')) {
    if (name == "swmr") {
      protocol.invariant_swmr = true;
    } else if (name == "data_value") {
      protocol.invariant_data_value = true;
    } else {
      diagnostics.error(property.line, fmt::format("unknown invariant '{}'{}", name, hint(name, {"swmr", "data_value"})));
    }
  }
}

void set_properties(Protocol& protocol, const ProtocolSource& source, Diagnostics& diagnostics) {
  std::vector<std::string> known;
  if (protocol.kind == ProtocolKind::bus || protocol.kind == ProtocolKind::node) known.emplace_back("bus");
  if (protocol.kind == ProtocolKind::node || protocol.kind == ProtocolKind::group) known.emplace_back("directory");
  known.emplace_back("invariants");
  for (const Declaration& property : source.properties) {
    if (std::find(known.begin(), known.end(), property.name) == known.end()) {
      diagnostics.error(property.line, fmt::format("unknown property '{}'{}", property.name, hint(property.name, known)));
    } else if (property.name == "invariants") {
      set_invariants(protocol, property, diagnostics);
    } else if (protocol.kind == ProtocolKind::node || protocol.kind == ProtocolKind::group) {
      (property.name == "bus" ? protocol.bus_partner : protocol.directory_partner) = property.meaning;
    } else {
      set_bus(protocol, property, diagnostics);
    }
  }
  for (const std::string& name : known) {
    if (std::any_of(source.properties.begin(), source.properties.end(), [&](const auto& p) { return p.name == name; }))
      continue;
    diagnostics.error(source.properties_line, fmt::format("property '{}' is missing from the table below the title", name));
  }
}

MessageClass message_class(const Declaration& message, Diagnostics& diagnostics) {
  const std::vector<std::string> names = {"request", "forward", "relay", "response"};
  const auto found = std::find(names.begin(), names.end(), message.message_class);
  if (found != names.end()) return static_cast<MessageClass>(1 + (found - names.begin()));
  diagnostics.error(message.line, fmt::format("message {}: its class is request, forward, relay or response, not '{}'",
                                              message.name, message.message_class));
  return MessageClass::request;
}

void set_messages(Protocol& protocol, const ProtocolSource& source, Diagnostics& diagnostics) {
  for (const Declaration& message : source.messages) {
    if (message.detail != "yes" && message.detail != "no") {
      diagnostics.error(message.line, fmt::format("message {}: 'data' says yes or no, not '{}'", message.name, message.detail));
    }
    const bool bus = protocol.kind == ProtocolKind::bus;
    protocol.messages.push_back({message.name, message.meaning, message.detail == "yes",
                                 bus ? MessageClass::bus : message_class(message, diagnostics)});
  }
  if (protocol.kind == ProtocolKind::bus) protocol.bus_messages = protocol.messages.size();
  if (protocol.messages.empty()) diagnostics.error(source.messages_line, "the table of messages has no rows");
  if (protocol.messages.size() > kMaxMessages) {
    diagnostics.error(source.messages_line, fmt::format("more than {} messages", kMaxMessages));
  }
}

void require_states(const ControllerSource& source, Diagnostics& diagnostics) {
  if (source.states.empty()) diagnostics.error(source.line, fmt::format("{}: the table of states has no rows", source.name));
}

// Copies the messages of `bus` and `directory` into a node's protocol, or those of `directory` into a group's. Reports an error
// if the file is of another kind.
void borrow_messages(Protocol& protocol, int title_line, const Protocol* bus, const Protocol* directory,
                     Diagnostics& diagnostics) {
  const bool borrows = bus != nullptr ? protocol.kind == ProtocolKind::node : protocol.kind == ProtocolKind::group;
  if (borrows) {
    if (bus != nullptr) {
      protocol.messages = bus->messages;
      protocol.bus_messages = bus->messages.size();
    }
    protocol.messages.insert(protocol.messages.end(), directory->messages.begin(), directory->messages.end());
  } else if (bus != nullptr) {
    diagnostics.error(title_line, "no section '## node': this is not a protocol of a node controller");
  } else {
    diagnostics.error(title_line, "no section '## group': this is not a protocol of a group");
  }
}

// Reads the files, and merges each with the file that it extends.
ProtocolSource read_source(const ProtocolFiles& files, Diagnostics& diagnostics) {
  std::vector<MarkdownDocument> documents;
  for (const ProtocolFile& file : files) {
    const int first_line = documents.empty() ? 1 : documents.back().last_line + 1;
    diagnostics.begin_file(file.name, first_line);
    documents.push_back(read_markdown(file.text, first_line, diagnostics));
    diagnostics.throw_if_any();
  }
  ProtocolSource source = read_protocol_source(documents.back(), nullptr, diagnostics);
  for (std::size_t i = documents.size() - 1; i-- > 0;) {
    const ProtocolSource base = std::move(source);
    source = read_protocol_source(documents[i], &base, diagnostics);
  }
  diagnostics.throw_if_any();
  return source;
}

Protocol parse(const ProtocolFiles& files, const Protocol* bus, const Protocol* directory) {
  Protocol protocol;
  Diagnostics diagnostics;
  const ProtocolSource source = read_source(files, diagnostics);
  std::vector<FileLines> named = diagnostics.files();
  for (FileLines& file : named) file.name = std::filesystem::path(file.name).stem().string();
  protocol.name = named.front().name;
  protocol.title = source.title;
  protocol.kind = source.kind;
  set_properties(protocol, source, diagnostics);
  if (directory != nullptr) {
    borrow_messages(protocol, source.properties_line, bus, directory, diagnostics);
  } else if (protocol.kind == ProtocolKind::group) {
    diagnostics.error(source.of(Controller::group).line, "a group needs the protocol of the homes' directories");
  } else if (protocol.kind == ProtocolKind::node) {
    diagnostics.error(source.of(Controller::node).line,
                      "a node controller needs the protocols of its bus and of its directory");
  } else {
    set_messages(protocol, source, diagnostics);
  }
  std::vector<Controller> controllers;
  for (std::size_t i = 0; i < kControllers; ++i) {
    if (source.controllers[i].name.empty()) continue;
    controllers.push_back(static_cast<Controller>(i));
    require_states(source.controllers[i], diagnostics);
  }
  diagnostics.throw_if_any();

  std::vector<CompiledController> compiled;
  for (const Controller controller : controllers) {
    compiled.push_back(compile_controller(controller, source.of(controller), protocol, diagnostics));
  }
  diagnostics.throw_if_any();

  for (const CompiledController& controller : compiled) check_total(controller, diagnostics);
  diagnostics.throw_if_any();

  for (std::size_t i = 0; i < controllers.size(); ++i) {
    check_reachable(compiled[i], diagnostics);
    protocol.table(controllers[i]) = std::move(compiled[i].table);
    protocol.table(controllers[i]).files = named;
  }
  const std::vector<BaseEvent>& events = protocol.cache.base_events;
  if (protocol.kind == ProtocolKind::bus && events.back().name == "Atomic") protocol.atomic = events.size() - 1;
  diagnostics.throw_if_any();

  if (protocol.kind == ProtocolKind::bus) {
    check_messages(protocol, source, diagnostics);
  } else {
    check_network_messages(protocol, directory, source, diagnostics);
  }
  diagnostics.throw_if_any();
  derive_facts(protocol);
  return protocol;
}

// Reads the file without reporting its errors. Parsing the file later reports them.
MarkdownDocument glance_at(const ProtocolFile& file) {
  Diagnostics ignored;
  ignored.begin_file(file.name, 1);
  return read_markdown(file.text, 1, ignored);
}

std::vector<MarkdownRow> properties_of(const MarkdownDocument& document) {
  std::vector<MarkdownRow> rows;
  if (document.sections.empty()) return rows;
  for (const MarkdownTable& table : document.sections.front().tables) {
    std::copy_if(table.rows.begin(), table.rows.end(), std::back_inserter(rows),
                 [](const MarkdownRow& row) { return row.cells.size() == 2; });
  }
  return rows;
}

}  // namespace

std::string ControllerTable::place(int source_line) const {
  const FileLines& file = file_of(files, source_line);
  return fmt::format("{}.md:{}", file.name, source_line - file.first_line + 1);
}

Protocol parse_protocol(const ProtocolFiles& files) {
  return parse(files, nullptr, nullptr);
}

Protocol parse_node_protocol(const ProtocolFiles& files, const Protocol& bus, const Protocol& directory) {
  return parse(files, &bus, &directory);
}

Protocol parse_group_protocol(const ProtocolFiles& files, const Protocol& directory) {
  return parse(files, nullptr, &directory);
}

std::optional<Extended> extended_by(const ProtocolFile& file) {
  // Saves reading most files twice: few files extend another.
  if (file.text.find("extends") == std::string::npos) return std::nullopt;
  for (const MarkdownRow& row : properties_of(glance_at(file))) {
    if (row.cells[0] == "extends") return Extended{row.cells[1], row.line};
  }
  return std::nullopt;
}

std::optional<Partners> partners_of(const ProtocolFiles& files) {
  // Saves reading most files twice: those of a bus don't mention what is beyond it.
  const auto mentions_either = [](const ProtocolFile& file) {
    return file.text.find("node") != std::string::npos || file.text.find("group") != std::string::npos;
  };
  if (std::none_of(files.begin(), files.end(), mentions_either)) return std::nullopt;
  bool node = false;
  Partners partners;
  for (auto file = files.rbegin(); file != files.rend(); ++file) {
    const MarkdownDocument document = glance_at(*file);
    node |= std::any_of(document.sections.begin(), document.sections.end(),
                        [](const MarkdownSection& section) { return section.name == "node" || section.name == "group"; });
    for (const MarkdownRow& row : properties_of(document)) {
      if (row.cells[0] == "bus") partners.bus = row.cells[1];
      if (row.cells[0] == "directory") partners.directory = row.cells[1];
    }
  }
  return node ? std::optional(partners) : std::nullopt;
}

}  // namespace linebounce
