#include "sim/config/protocol_file.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "sim/config/project_files.hpp"
#include "sim/point/config_error.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;

ProtocolFile read_extended(const ProtocolFile& from, const Extended& extended) {
  try {
    const fs::path file = find_file(kProtocolFiles, extended.name, fs::path(from.name).parent_path(), "");
    return {file.string(), read_text(file)};
  } catch (const ConfigError& error) {
    throw ConfigError(fmt::format("{}:{}: extends: {}", from.name, extended.line, error.what()));
  }
}

ProtocolFiles with_extended(ProtocolFile file) {
  ProtocolFiles files = {std::move(file)};
  while (const auto extended = extended_by(files.back())) {
    ProtocolFile next = read_extended(files.back(), *extended);
    const auto same = [&next](const ProtocolFile& each) {
      return fs::weakly_canonical(each.name) == fs::weakly_canonical(next.name);
    };
    if (std::any_of(files.begin(), files.end(), same)) {
      throw ConfigError(
          fmt::format("{}:{}: extends {}, which extends this file", files.back().name, extended->line, extended->name));
    }
    files.push_back(std::move(next));
  }
  return files;
}

// Parses protocol files with `parse`. Converts ProtocolError to ConfigError, because the mistake is in a user's file.
template <class Parse>
Protocol read(const ProtocolFiles& files, Parse parse) {
  try {
    return parse(files);
  } catch (const ProtocolError& error) {
    throw ConfigError(error.what());
  }
}

template <class Parse>
Protocol load(const std::string& name_or_path, const std::string& place, Parse parse) {
  return read(read_protocol_files(name_or_path, place), parse);
}

// Loads a protocol that a node's protocol file names as its partner. Rejects node protocols, because their files could name
// each other in a cycle.
Protocol load_partner(const std::string& name, ProtocolKind wanted, const std::string& file) {
  const std::string key = wanted == ProtocolKind::bus ? "bus" : "directory";
  return load(name, fmt::format("{}: {}", file, key), [&](const ProtocolFiles& files) {
    if (!partners_of(files)) {
      Protocol protocol = parse_protocol(files);
      if (protocol.kind == wanted) return protocol;
    }
    throw ConfigError(fmt::format("{}: {}: {} is not a protocol of a {}", file, key, name, key));
  });
}

Protocol parse_with_partners(const ProtocolFiles& files) {
  const auto partners = partners_of(files);
  const std::string& file = files.front().name;
  if (!partners) return parse_protocol(files);
  if (partners->bus.empty())
    return parse_group_protocol(files, load_partner(partners->directory, ProtocolKind::directory, file));
  return parse_node_protocol(files, load_partner(partners->bus, ProtocolKind::bus, file),
                             load_partner(partners->directory, ProtocolKind::directory, file));
}

std::string named(const Partners& partners) {
  return partners.bus.empty() ? partners.directory : partners.bus + " and " + partners.directory;
}

bool same(const Partners& a, const Partners& b) {
  return a.bus == b.bus && a.directory == b.directory;
}

// Lists the shipped protocols that are made for these partners.
std::vector<std::string> files_for(const Partners& partners) {
  std::vector<std::string> names = file_names(kProtocolFiles);
  std::erase_if(names, [&](const std::string& name) {
    const auto meant = partners_of(read_protocol_files(name));
    return !meant || !same(*meant, partners);
  });
  return names;
}

// Loads a node's or group's protocol with the partners that the machine has. If parsing fails, and the file is made for other
// partners, the most likely mistake is the machine's combination of protocols. The error then names the combination instead
// of the missing rows.
template <class Parse>
Protocol load_between(const std::string& name_or_path, const Partners& here, const std::string& place, Parse parse) {
  return load(name_or_path, place, [&](const ProtocolFiles& files) {
    try {
      return parse(files);
    } catch (const ProtocolError&) {
      const auto meant = partners_of(files);
      if (!meant || same(*meant, here)) throw;
      const std::vector<std::string> fitting = files_for(here);
      throw ConfigError(fmt::format("{}{} is for {}, and can't be used with {}{}", place.empty() ? "" : place + ": ",
                                    name_or_path, named(*meant), named(here),
                                    fitting.empty() ? "" : fmt::format("; for those: {}", fmt::join(fitting, ", "))));
    }
  });
}

}  // namespace

ProtocolFiles read_protocol_files(const std::string& name_or_path, const std::string& place) {
  const fs::path file = find_file(kProtocolFiles, name_or_path, "", place);
  return with_extended({file.string(), read_text(file)});
}

Protocol load_protocol(const std::string& name_or_path, const std::string& place) {
  return load(name_or_path, place, parse_with_partners);
}

Protocol read_protocol(const std::string& text, const std::string& file) {
  return read(with_extended({file, text}), parse_with_partners);
}

Protocol load_node_protocol(const std::string& name_or_path, const Protocol& bus, const Protocol& directory,
                            const std::string& place) {
  return load_between(name_or_path, {bus.name, directory.name}, place,
                      [&](const ProtocolFiles& files) { return parse_node_protocol(files, bus, directory); });
}

Protocol load_group_protocol(const std::string& name_or_path, const Protocol& directory, const std::string& place) {
  return load_between(name_or_path, {"", directory.name}, place,
                      [&](const ProtocolFiles& files) { return parse_group_protocol(files, directory); });
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
