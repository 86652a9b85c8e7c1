#include "sim/config/protocol_file.hpp"

#include <fmt/format.h>

#include "sim/config/project_files.hpp"
#include "sim/point/config_error.hpp"

namespace linebounce::sim {

namespace {

// The file's text through `parse`, whose errors are the user's.
template <class Parse>
Protocol load(const std::string& name_or_path, const std::string& place, Parse parse) {
  const auto file = find_file(kProtocolFiles, name_or_path, "", place);
  try {
    return parse(read_text(file), file.string());
  } catch (const ProtocolError& error) {
    throw ConfigError(error.what());
  }
}

// What a node's file names, which cannot be a node's itself: else files could name one another without end.
Protocol load_partner(const std::string& name, ProtocolKind wanted, const std::string& file) {
  const std::string key = wanted == ProtocolKind::bus ? "bus" : "directory";
  return load(name, fmt::format("{}: {}", file, key), [&](const std::string& text, const std::string& partner) {
    if (!partners_of(text)) {
      Protocol protocol = parse_protocol(text, partner);
      if (protocol.kind == wanted) return protocol;
    }
    throw ConfigError(fmt::format("{}: {}: {} is no protocol of a {}", file, key, name, key));
  });
}

}  // namespace

Protocol load_protocol(const std::string& name_or_path, const std::string& place) {
  return load(name_or_path, place, [](const std::string& text, const std::string& file) {
    const auto partners = partners_of(text);
    if (!partners) return parse_protocol(text, file);
    if (partners->bus.empty())
      return parse_group_protocol(text, file, load_partner(partners->directory, ProtocolKind::directory, file));
    return parse_node_protocol(text, file, load_partner(partners->bus, ProtocolKind::bus, file),
                               load_partner(partners->directory, ProtocolKind::directory, file));
  });
}

Protocol load_node_protocol(const std::string& name_or_path, const Protocol& bus, const Protocol& directory,
                            const std::string& place) {
  return load(name_or_path, place, [&](const std::string& text, const std::string& file) {
    return parse_node_protocol(text, file, bus, directory);
  });
}

Protocol load_group_protocol(const std::string& name_or_path, const Protocol& directory, const std::string& place) {
  return load(name_or_path, place,
              [&](const std::string& text, const std::string& file) { return parse_group_protocol(text, file, directory); });
}

MachineProtocols load_protocols(const MachineSpec& machine) {
  const Protocol bus = load_protocol(machine.bus.protocol);
  if (!machine.has_nodes()) return bus;
  const Protocol directory = load_protocol(machine.directory.protocol);
  MachineProtocols loaded{bus, load_node_protocol(machine.node.protocol, bus, directory), directory};
  if (!machine.groups.empty()) loaded.group = load_group_protocol(machine.groups.front().protocol, directory);
  return loaded;
}

}  // namespace linebounce::sim
