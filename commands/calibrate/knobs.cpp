#include "commands/calibrate/knobs.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace linebounce::sim {
namespace {

constexpr const char* kLinks = "machine.network.link.";

bool has(const std::vector<Block>& blocks, Distance distance) {
  return std::ranges::any_of(blocks, [distance](const Block& block) { return block.distance == distance; });
}

Knob cycles(std::vector<std::string> paths, double minimum = 0) {
  return {std::move(paths), minimum, 1, true};
}
Knob ns(const std::string& path) {
  return {{path}, 0, 0.1, true};
}

// The knob for transfers between threads of one core. It covers two kinds of atomics, because the measured program uses
// compare-and-exchange and the simulated one an addition.
Knob own_line(const MachineSpec& machine, const std::string& access) {
  if (access == "atomic") {
    // An atomic operation reads its line, so it takes no less than a hit.
    return cycles({"machine.cpu.atomic_latency_cycles", "machine.cpu.compare_exchange_latency_cycles"},
                  machine.caches.front().hit_latency_cycles);
  }
  return cycles({"machine.cache." + machine.caches.front().name + ".hit_latency_cycles"}, 1);
}

// The knobs for transfers to another bus. They have the same effect as the intervention, which precedes them, so a fit turns
// them only if the machine is too slow even without an intervention. The last one counts clocks of the core, which supply
// fractions of a bus clock. A snoop takes at least one clock.
std::vector<Knob> other_bus_knobs() {
  return {cycles({"machine.bus.snoop_clocks"}, 1), cycles({"machine.bus.latch_clocks"}),
          cycles({"machine.bus.arbitration_clocks"}), cycles({"machine.bus.response_clocks"}),
          cycles({"machine.cpu.fill_latency_cycles"})};
}

std::vector<Knob> network_knobs(const MachineSpec& machine) {
  std::vector<Knob> knobs;
  for (const LinkSpec& link : machine.network.links) knobs.push_back(ns(kLinks + link.name + ".latency_ns"));
  if (knobs.empty()) knobs.push_back(ns("machine.network.latency_ns"));
  return knobs;
}

std::vector<Knob> node_knobs() {
  return {ns("machine.node.latency_ns"), ns("machine.directory.latency_ns"), ns("machine.node.line_crossing_ns"),
          ns("machine.node.request_crossing_ns")};
}

}  // namespace

std::vector<Knob> knobs_of(const MachineSpec& machine, const std::vector<Block>& blocks, const std::string& access) {
  std::vector<Knob> knobs;
  const auto add = [&knobs](std::vector<Knob> more) { std::move(more.begin(), more.end(), std::back_inserter(knobs)); };
  const bool own_lines_seen = has(blocks, Distance::same_core);
  const bool nodes_seen = has(blocks, Distance::other_node);
  if (own_lines_seen) add({own_line(machine, access)});
  // The first knob for each distance comes first. The intervention always is one: if no two cores share a bus, its clocks are
  // part of all other transfers.
  add({cycles({"machine.bus.intervention_clocks"})});
  if (nodes_seen) add(network_knobs(machine));
  if (nodes_seen || has(blocks, Distance::same_node)) add(node_knobs());
  add(other_bus_knobs());
  // A hit's latency is not part of a transfer, so no other pairs show it.
  if (!own_lines_seen && access == "atomic") add({own_line(machine, access)});
  return knobs;
}

std::vector<Knob> with_links_as_one(const std::vector<Knob>& knobs) {
  std::vector<Knob> joined;
  for (const Knob& knob : knobs) {
    const bool link = knob.paths.front().starts_with(kLinks);
    if (link && !joined.empty() && joined.back().paths.front().starts_with(kLinks)) {
      joined.back().paths.push_back(knob.paths.front());
      joined.back().to_same_value = false;
    } else {
      joined.push_back(knob);
    }
  }
  return joined;
}

}  // namespace linebounce::sim
