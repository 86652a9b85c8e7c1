#include "sim/config/placement.hpp"

#include <fmt/ranges.h>

#include <optional>

#include "models/machine_layout.hpp"
#include "sim/config/schema.hpp"

namespace linebounce::sim {
namespace {

constexpr std::string_view kNode = "node ";

std::optional<Home> to_home(const std::string& text, const std::vector<int>& os_nodes_with_memory) {
  if (const auto policy = enum_named<Placement>(text)) return Home::by(*policy);
  for (const int node : os_nodes_with_memory) {
    if (text == fmt::format("{}{}", kNode, node)) return Home::on_os_node(node);
  }
  return std::nullopt;
}

}  // namespace

KeyInfo placement_key(const std::string& path) {
  return {path, ValueType::text, "", "where this object's memory is"};
}

std::map<std::string, Home> to_placement(const Settings& settings, const MachineSpec& machine) {
  std::map<std::string, Home> placement;
  const std::vector<int> nodes = lay_out(machine).os_nodes_with_memory;
  for (auto at = settings.lower_bound(std::string(kPlacementPrefix)); at != settings.end(); ++at) {
    const auto& [path, setting] = *at;
    if (!path.starts_with(kPlacementPrefix)) break;
    const auto& text = std::get<std::string>(setting.value);
    const auto home = to_home(text, nodes);
    if (!home) {
      fail(setting.origin, path,
           fmt::format("\"{}\" is not a place; legal: local, first_touch, interleaved, or a node with memory: {}{}", text,
                       kNode, fmt::join(nodes, fmt::format(", {}", kNode))));
    }
    placement.emplace(path.substr(kPlacementPrefix.size()), *home);
  }
  return placement;
}

}  // namespace linebounce::sim
