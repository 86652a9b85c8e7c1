#include "sim/plan/protocol_pairs.hpp"

#include <fmt/ranges.h>

#include "models/coherence/checker/network/check_network.hpp"
#include "sim/config/project_files.hpp"
#include "sim/config/protocol_file.hpp"
#include "sim/point/config_error.hpp"

namespace linebounce::sim {
namespace {

bool works(const Protocol& bus, const Protocol& node, const Protocol& directory) {
  return !check_network({.directory = directory, .node = node, .bus = bus}, {.agents = 2, .caches = 1}).violation;
}

std::vector<std::string> fitting_buses(const MachineSpec& machine, const Protocol& directory) {
  std::vector<std::string> names = file_names(kProtocolFiles);
  std::erase_if(names, [&](const std::string& name) {
    try {
      const Protocol bus = load_protocol(name);
      if (bus.kind != ProtocolKind::bus || bus.bus != BusKind::split) return true;
      return !works(bus, load_node_protocol(machine.node.protocol, bus, directory), directory);
    } catch (const ConfigError&) {
      return true;
    }
  });
  return names;
}

}  // namespace

void require_fitting_protocols(const SimulationInput& input) {
  const MachineSpec& machine = input.machine;
  const auto& [bus, node, directory, group] = input.protocols;
  for (const std::string& name : {machine.bus.protocol, machine.node.protocol, machine.directory.protocol}) {
    if (name.empty() || is_path(kProtocolFiles, name)) return;
  }
  if ((node.bus_partner == bus.name && node.directory_partner == directory.name) || works(bus, node, directory)) return;
  throw ConfigError(
      fmt::format("{}: {} cannot be used with {} and {}, and `linebounce check {} --bus {}` shows why; "
                  "legal with those: {}",
                  input.located("machine.bus.protocol"), bus.name, node.name, directory.name, node.name, bus.name,
                  fmt::join(fitting_buses(machine, directory), ", ")));
}

}  // namespace linebounce::sim
