// A protocol file, stage by stage: Markdown, declarations, rows, checks. A stage runs only if the one before found nothing
// wrong, so that one slip is not reported as twenty.
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

constexpr std::size_t kMaxMessages = 60;  // two cache events each, and an event's id is a byte

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

ControllerSource& source_of(ProtocolSource& source, Controller controller) {
  switch (controller) {
    case Controller::cache: return source.cache;
    case Controller::memory: return source.memory;
    case Controller::directory: return source.directory;
    case Controller::group: return source.group;
    case Controller::node: break;
  }
  return source.node;
}

CompiledController compile(Controller controller, const ProtocolSource& source, const Protocol& protocol,
                           Diagnostics& diagnostics) {
  switch (controller) {
    case Controller::cache: return compile_cache(source.cache, protocol, diagnostics);
    case Controller::memory: return compile_memory(source.memory, protocol, diagnostics);
    case Controller::directory: return compile_directory(source.directory, protocol, diagnostics);
    case Controller::group: return compile_group(source.group, protocol, diagnostics);
    case Controller::node: break;
  }
  return compile_node(source.node, protocol, diagnostics);
}

// A directory whose agents are node controllers only has no table of caches.
std::vector<Controller> controllers_of(const ProtocolSource& source) {
  switch (source.kind) {
    case ProtocolKind::bus: return {Controller::cache, Controller::memory};
    case ProtocolKind::directory:
      if (source.cache.name.empty()) return {Controller::directory};
      return {Controller::cache, Controller::directory};
    case ProtocolKind::group: return {Controller::group};
    case ProtocolKind::node: break;
  }
  return {Controller::node};
}

// The messages of a node, of its bus and its network, and those of a group are its partners'; a file of another kind has its
// own.
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
    diagnostics.error(title_line, "no section '## node': this is no protocol of a node controller");
  } else {
    diagnostics.error(title_line, "no section '## group': this is no protocol of a group");
  }
}

Protocol parse(std::string_view text, const std::string& file, const Protocol* bus, const Protocol* directory) {
  Diagnostics diagnostics(file);
  const MarkdownDocument document = read_markdown(text, diagnostics);
  diagnostics.throw_if_any();

  ProtocolSource source = read_protocol_source(document, diagnostics);
  diagnostics.throw_if_any();

  Protocol protocol;
  protocol.name = std::filesystem::path(file).stem().string();
  protocol.title = source.title;
  protocol.kind = source.kind;
  set_properties(protocol, source, diagnostics);
  if (directory != nullptr) {
    borrow_messages(protocol, document.title_line, bus, directory, diagnostics);
  } else if (protocol.kind == ProtocolKind::group) {
    diagnostics.error(source.group.line, "a group needs the protocol of the homes' directories");
  } else if (protocol.kind == ProtocolKind::node) {
    diagnostics.error(source.node.line, "a node controller needs the protocols of its bus and of its directory");
  } else {
    set_messages(protocol, source, diagnostics);
  }
  const std::vector<Controller> controllers = controllers_of(source);
  for (const Controller controller : controllers) require_states(source_of(source, controller), diagnostics);
  diagnostics.throw_if_any();

  std::vector<CompiledController> compiled;
  for (const Controller controller : controllers) compiled.push_back(compile(controller, source, protocol, diagnostics));
  diagnostics.throw_if_any();

  for (const CompiledController& controller : compiled) check_total(controller, diagnostics);
  diagnostics.throw_if_any();

  for (std::size_t i = 0; i < controllers.size(); ++i) {
    check_reachable(compiled[i], diagnostics);
    protocol.table(controllers[i]) = std::move(compiled[i].table);
    protocol.table(controllers[i]).protocol = protocol.name;
  }
  const std::vector<BaseEvent>& events = protocol.cache.base_events;
  if (protocol.kind == ProtocolKind::bus && events.back().name == "Atomic") protocol.atomic = events.size() - 1;
  diagnostics.throw_if_any();

  if (protocol.kind == ProtocolKind::bus) {
    check_messages(protocol, source, diagnostics);
  } else if (protocol.kind == ProtocolKind::group) {
    check_group_messages(protocol, *directory, diagnostics);
  } else {
    check_network_messages(protocol, directory, source, diagnostics);
  }
  diagnostics.throw_if_any();
  derive_facts(protocol);
  return protocol;
}

}  // namespace

Protocol parse_protocol(std::string_view text, const std::string& file) {
  return parse(text, file, nullptr, nullptr);
}

Protocol parse_node_protocol(std::string_view text, const std::string& file, const Protocol& bus, const Protocol& directory) {
  return parse(text, file, &bus, &directory);
}

Protocol parse_group_protocol(std::string_view text, const std::string& file, const Protocol& directory) {
  return parse(text, file, nullptr, &directory);
}

std::optional<Partners> partners_of(std::string_view text) {
  Diagnostics diagnostics("");  // what is wrong with the file, parsing it says
  const MarkdownDocument document = read_markdown(text, diagnostics);
  const bool node = std::any_of(document.sections.begin(), document.sections.end(), [](const MarkdownSection& section) {
    return section.name == "node" || section.name == "group";
  });
  if (!node) return std::nullopt;
  Partners partners;
  for (const MarkdownTable& table : document.sections.front().tables) {
    for (const MarkdownRow& row : table.rows) {
      if (row.cells.size() == 2 && row.cells[0] == "bus") partners.bus = row.cells[1];
      if (row.cells.size() == 2 && row.cells[0] == "directory") partners.directory = row.cells[1];
    }
  }
  return partners;
}

}  // namespace linebounce
