// The places of cores on a ring or mesh that is modelled as one bus. The protocol still sees a bus, with one order for all
// transactions. Places add the time that a line travels between two cores, or between a core and the edge, where the bus meets
// memory or the node controller.
#pragma once

#include <vector>

#include "models/machine_layout.hpp"
#include "models/machine_spec.hpp"
#include "models/timebase.hpp"

namespace linebounce {

struct BusPlaces {
  struct Core {
    Tick way = 0;   // added to each transfer from or to another core, besides the hops
    Tick edge = 0;  // a line's to or from the edge
    int column = 0, row = 0;
  };
  std::vector<Core> cores;  // by client of the bus; empty: no places, so no travel time
  Tick hop = 0;             // from one column or row to the next

  [[nodiscard]] Tick between(int giver, int taker) const;
  [[nodiscard]] Tick to_edge(int core) const { return cores.empty() ? 0 : cores[static_cast<std::size_t>(core)].edge; }
};

// One core's place as the machine file states it.
struct CorePlace {
  double way_ns = 0, edge_way_ns = 0;
  int column = 0, row = 0;
};

// The places of all cores that the machine has, as cpu_order `fill` numbers them.
// Errors: std::invalid_argument, "KEY: TEXT" for a user, for a word that is no latency or place, or more words than cores.
std::vector<CorePlace> core_places(const MachineSpec& spec, const MachineLayout& layout);

// The places of the cores in use on one bus. Errors: as core_places().
BusPlaces places_on_bus(const MachineSpec& spec, const MachineLayout& layout, int bus, const Timebase& timebase);

}  // namespace linebounce
