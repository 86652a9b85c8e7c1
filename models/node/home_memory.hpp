// The side of a directory towards the memory of its node: when memory's data is ready, and when a request may be processed.
#pragma once

#include <algorithm>
#include <vector>

#include "models/bus/memory_side.hpp"
#include "models/machine_context.hpp"
#include "models/memory/memory_controller.hpp"

namespace linebounce {

class HomeMemory {
 public:
  HomeMemory(int node, const MachineContext& machine)
      : store_(machine.store),
        controller_(as_of_node(machine.spec, node).memory, machine.timebase, store_.line_bytes()),
        line_busy_(machine.timebase.from_ns(as_of_node(machine.spec, node).directory.line_busy_ns)) {}

  [[nodiscard]] LineData data(Slot slot) { return {store_.memory_data(slot), store_.memory_version(slot)}; }
  // Returns when the data of a read that starts at `at` is ready.
  Tick read(Slot slot, Tick at) { return controller_.read(store_.line(slot), at); }
  void write(Slot slot, const LineData& data, Tick at) {
    store_.write_memory(slot, data.bytes, data.version);
    controller_.write(store_.line(slot), at);
  }

  // Returns when a request that arrived at `at` may be processed. Each request keeps later ones of its line waiting for
  // `directory.line_busy_ns`.
  Tick turn(Slot slot, Tick at) {
    if (line_busy_ == 0) return at;
    if (slot >= line_free_.size()) line_free_.resize(std::max<std::size_t>(slot + 1, line_free_.size() * 2));
    const Tick turn = std::max(at, line_free_[slot]);
    line_free_[slot] = turn + line_busy_;
    return turn;
  }

 private:
  LineStore& store_;
  MemoryController controller_;
  Tick line_busy_;
  std::vector<Tick> line_free_;  // indexed by slot: when the next request may be processed
};

}  // namespace linebounce
