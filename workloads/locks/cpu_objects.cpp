#include "workloads/locks/cpu_objects.hpp"

#include <fmt/format.h>

#include "models/failure.hpp"

namespace linebounce::workloads {

Address QueueNodes::take(const Cpu& cpu) {
  std::vector<Address>& free = free_[static_cast<std::size_t>(cpu.id().value)];
  if (free.empty()) {
    throw ModelFailure(fmt::format("CPU {} holds and awaits more than {} queue locks of one kind at once", cpu.id().value,
                                   CpuObjects::kNodesOfCpu));
  }
  const Address node = free.back();
  free.pop_back();
  return node;
}

Address CpuObjects::place(const Layout& layout, const std::string& name, int cpu) {
  std::optional<Home> home;
  if (!places_.empty()) home = Home::near(places_[static_cast<std::size_t>(cpu)]);
  return memory_->place(layout, name, memory_->line_bytes(), home);
}

const std::vector<Address>& CpuObjects::shared(const Layout& layout) {
  std::vector<Address>& objects = shared_[layout.name];
  if (objects.empty()) {
    for (int cpu = 0; cpu < cpus_; ++cpu) objects.push_back(place(layout, fmt::format("{}[{}]", layout.name, cpu), cpu));
  }
  return objects;
}

QueueNodes& CpuObjects::nodes(const Layout& layout) {
  QueueNodes& nodes = nodes_[layout.name];
  if (!nodes.free_.empty()) return nodes;
  nodes.free_.resize(static_cast<std::size_t>(cpus_));
  for (int cpu = 0; cpu < cpus_; ++cpu) {
    for (int node = kNodesOfCpu - 1; node >= 0; --node) {
      const std::string name = fmt::format("{}[{}][{}]", layout.name, cpu, node);
      nodes.free_[static_cast<std::size_t>(cpu)].push_back(place(layout, name, cpu));
    }
  }
  return nodes;
}

}  // namespace linebounce::workloads
