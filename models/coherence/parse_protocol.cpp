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
  const std::vector<std::string> known = {"bus", "invariants"};
  for (const Declaration& property : source.properties) {
    if (property.name == "bus") {
      set_bus(protocol, property, diagnostics);
    } else if (property.name == "invariants") {
      set_invariants(protocol, property, diagnostics);
    } else {
      diagnostics.error(property.line, fmt::format("unknown property '{}'{}", property.name, hint(property.name, known)));
    }
  }
  for (const std::string& name : known) {
    if (std::any_of(source.properties.begin(), source.properties.end(), [&](const auto& p) { return p.name == name; }))
      continue;
    diagnostics.error(source.properties_line, fmt::format("property '{}' is missing from the table below the title", name));
  }
}

void set_messages(Protocol& protocol, const ProtocolSource& source, Diagnostics& diagnostics) {
  for (const Declaration& message : source.messages) {
    if (message.detail != "yes" && message.detail != "no") {
      diagnostics.error(message.line, fmt::format("message {}: 'data' says yes or no, not '{}'", message.name, message.detail));
    }
    protocol.messages.push_back({message.name, message.meaning, message.detail == "yes"});
  }
  if (protocol.messages.empty()) diagnostics.error(source.messages_line, "the table of messages has no rows");
  if (protocol.messages.size() > kMaxMessages) {
    diagnostics.error(source.messages_line, fmt::format("more than {} messages", kMaxMessages));
  }
}

void require_states(const ControllerSource& source, Diagnostics& diagnostics) {
  if (source.states.empty()) diagnostics.error(source.line, fmt::format("{}: the table of states has no rows", source.name));
}

}  // namespace

Protocol parse_protocol(std::string_view text, const std::string& file) {
  Diagnostics diagnostics(file);
  const MarkdownDocument document = read_markdown(text, diagnostics);
  diagnostics.throw_if_any();

  const ProtocolSource source = read_protocol_source(document, diagnostics);
  diagnostics.throw_if_any();

  Protocol protocol;
  protocol.name = std::filesystem::path(file).stem().string();
  protocol.title = source.title;
  set_properties(protocol, source, diagnostics);
  set_messages(protocol, source, diagnostics);
  require_states(source.cache, diagnostics);
  require_states(source.memory, diagnostics);
  diagnostics.throw_if_any();

  CompiledController cache = compile_cache(source.cache, protocol, diagnostics);
  CompiledController memory = compile_memory(source.memory, protocol, diagnostics);
  diagnostics.throw_if_any();

  check_total(cache, diagnostics);
  check_total(memory, diagnostics);
  diagnostics.throw_if_any();

  check_reachable(cache, diagnostics);
  check_reachable(memory, diagnostics);
  protocol.cache = std::move(cache.table);
  protocol.memory = std::move(memory.table);
  diagnostics.throw_if_any();

  check_messages(protocol, source, diagnostics);
  diagnostics.throw_if_any();
  derive_facts(protocol);
  return protocol;
}

}  // namespace linebounce
