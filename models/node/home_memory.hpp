// The side of a directory towards the memory of its node: when memory's data is ready, and when a request may be processed.
#pragma once

#include <algorithm>
#include <vector>

#include "models/bus/memory_side.hpp"
#include "models/machine_context.hpp"
#include "models/memory/memory_controller.hpp"
#include "models/network/network.hpp"

namespace linebounce {

class HomeMemory {
 public:
  HomeMemory(int node, const MachineContext& machine, const Network& network)
      : store_(machine.store), controller_(as_of_node(machine.spec, node).memory, machine.timebase, store_.line_bytes()) {
    const DirectorySpec directory = as_of_node(machine.spec, node).directory;
    line_busy_ =
        directory.line_busy_ns < 0 ? transfer_time(node, machine, network) : machine.timebase.from_ns(directory.line_busy_ns);
    for (int to = 0; directory.broadcasts && to < machine.spec.nodes; ++to)
      all_answered_.push_back(last_answer(node, to, machine, network) - network.way(node, to));
  }

  HomeMemory(const HomeMemory&) = delete;
  HomeMemory& operator=(const HomeMemory&) = delete;

  // REQUIRES: called before the simulation starts; `timing` outlives it.
  void set_timing(MemoryTiming& timing) { timing_ = &timing; }

  [[nodiscard]] LineData data(Slot slot) { return {store_.memory_data(slot), store_.memory_version(slot)}; }
  // Returns when the data of a read that starts at `at` is ready.
  Tick read(Slot slot, Tick at) { return timing_->read(store_.line(slot), at); }
  [[nodiscard]] Tick latency() const { return timing_->latency(); }
  void write(Slot slot, const LineData& data, Tick at) {
    store_.write_memory(slot, data.bytes, data.version);
    timing_->write(store_.line(slot), at);
  }

  // Returns when a request that arrived at `at` may be processed. It makes later requests for the same line wait for
  // `directory.line_busy_ns`.
  Tick turn(Slot slot, Tick at) {
    if (line_busy_ == 0) return at;
    if (slot >= line_free_.size()) line_free_.resize(std::max<std::size_t>(slot + 1, line_free_.size() * 2));
    const Tick turn = std::max(at, line_free_[slot]);
    line_free_[slot] = turn + line_busy_;
    return turn;
  }

  [[nodiscard]] Tick line_busy() const { return line_busy_; }

  // True if a request that takes copies waits for the answers of all nodes.
  [[nodiscard]] bool broadcasts() const { return !all_answered_.empty(); }
  // For a message that leaves the home together with the question: how much later the last of these answers reaches `node`.
  [[nodiscard]] Tick wait_for_all(int node) const { return all_answered_[node]; }

 private:
  // The time for a controller's pass, and on its bus for arbitration and snoop.
  static Tick snoop_time(const MachineContext& machine) {
    const BusSpec& bus = machine.spec.bus;
    return machine.timebase.from_ns(machine.spec.node.latency_ns) +
           (bus.arbitration_clocks + bus.snoop_clocks) * machine.timebase.period(bus.clock);
  }

  // How long it takes to transfer a line from another node's cache: the home's forward to the owner, the owner's bus, and the
  // line's way back. Takes the mean of the ways over all other nodes.
  static Tick transfer_time(int home, const MachineContext& machine, const Network& network) {
    const BusSpec& bus = machine.spec.bus;
    Tick ways = 0;
    for (int node = 0; node < machine.spec.nodes; ++node) {
      if (node != home) ways += network.way(home, node) + network.way(node, home);
    }
    return ways / std::max(1, machine.spec.nodes - 1) + snoop_time(machine) +
           bus.intervention_clocks * machine.timebase.period(bus.clock) +
           machine.timebase.from_ns(machine.spec.node.latency_ns);
  }

  // The time from the home's question to all nodes until the last of their answers reaches node `to`.
  static Tick last_answer(int home, int to, const MachineContext& machine, const Network& network) {
    Tick last = 0;
    for (int node = 0; node < machine.spec.nodes; ++node)
      last = std::max(last, network.way(home, node) + snoop_time(machine) + network.way(node, to));
    return last;
  }

  LineStore& store_;
  MemoryController controller_;
  MemoryTiming* timing_ = &controller_;
  Tick line_busy_ = 0;
  std::vector<Tick> all_answered_;  // indexed by the node that waits for the answers; empty if homes don't broadcast
  std::vector<Tick> line_free_;     // indexed by slot: when the next request may be processed
};

}  // namespace linebounce
