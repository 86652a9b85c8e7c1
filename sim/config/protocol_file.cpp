#include "sim/config/protocol_file.hpp"

#include <fmt/ranges.h>

#include <vector>

#include "sim/config/project_files.hpp"
#include "sim/point/config_error.hpp"

namespace linebounce::sim {
namespace {

// A file's text through `parse`, whose errors are the user's.
template <class Parse>
Protocol read(const std::string& text, const std::string& file, Parse parse) {
  try {
    return parse(text, file);
  } catch (const ProtocolError& error) {
    throw ConfigError(error.what());
  }
}

template <class Parse>
Protocol load(const std::string& name_or_path, const std::string& place, Parse parse) {
  const auto file = find_file(kProtocolFiles, name_or_path, "", place);
  return read(read_text(file), file.string(), parse);
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

Protocol parse_with_partners(const std::string& text, const std::string& file) {
  const auto partners = partners_of(text);
  if (!partners) return parse_protocol(text, file);
  if (partners->bus.empty())
    return parse_group_protocol(text, file, load_partner(partners->directory, ProtocolKind::directory, file));
  return parse_node_protocol(text, file, load_partner(partners->bus, ProtocolKind::bus, file),
                             load_partner(partners->directory, ProtocolKind::directory, file));
}

std::string named(const Partners& partners) {
  return partners.bus.empty() ? partners.directory : partners.bus + " and " + partners.directory;
}

bool same(const Partners& a, const Partners& b) {
  return a.bus == b.bus && a.directory == b.directory;
}

// The shipped files for these partners.
std::vector<std::string> files_for(const Partners& partners) {
  std::vector<std::string> names = file_names(kProtocolFiles);
  std::erase_if(names, [&](const std::string& name) {
    const auto meant = partners_of(read_text(find_file(kProtocolFiles, name, "", "")));
    return !meant || !same(*meant, partners);
  });
  return names;
}

// A node's or group's file that joins protocols which are not those that it names. Most likely the machine's do not fit
// together, and then that is worth more than the rows that are missing.
template <class Parse>
Protocol load_between(const std::string& name_or_path, const Partners& here, const std::string& place, Parse parse) {
  return load(name_or_path, place, [&](const std::string& text, const std::string& file) {
    try {
      return parse(text, file);
    } catch (const ProtocolError&) {
      const auto meant = partners_of(text);
      if (!meant || same(*meant, here)) throw;
      const std::vector<std::string> fitting = files_for(here);
      throw ConfigError(fmt::format("{}{} is for {}, and can't be used with {}{}", place.empty() ? "" : place + ": ",
                                    name_or_path, named(*meant), named(here),
                                    fitting.empty() ? "" : fmt::format("; for those: {}", fmt::join(fitting, ", "))));
    }
  });
}

}  // namespace

Protocol load_protocol(const std::string& name_or_path, const std::string& place) {
  return load(name_or_path, place, parse_with_partners);
}

Protocol read_protocol(const std::string& text, const std::string& file) {
  return read(text, file, parse_with_partners);
}

Protocol load_node_protocol(const std::string& name_or_path, const Protocol& bus, const Protocol& directory,
                            const std::string& place) {
  return load_between(name_or_path, {bus.name, directory.name}, place, [&](const std::string& text, const std::string& file) {
    return parse_node_protocol(text, file, bus, directory);
  });
}

Protocol load_group_protocol(const std::string& name_or_path, const Protocol& directory, const std::string& place) {
  return load_between(name_or_path, {"", directory.name}, place, [&](const std::string& text, const std::string& file) {
    return parse_group_protocol(text, file, directory);
  });
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
