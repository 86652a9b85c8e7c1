// The positions of cores on a ring or mesh that is modelled as one bus. The protocol still sees a bus, with one order for all
// transactions. Positions only add the time that a line travels between two cores, or between a core and the edge, where the
// bus meets memory or the node controller.
#pragma once

#include <vector>

#include "models/machine_layout.hpp"
#include "models/machine_spec.hpp"
#include "models/timebase.hpp"

namespace linebounce {

struct BusPlaces {
  struct Core {
    Tick way = 0;   // time added to each transfer from or to another core, besides the hops
    Tick edge = 0;  // time that a line travels between the core and the edge (memory or the node controller)
    int column = 0, row = 0;
  };
  std::vector<Core> cores;  // indexed by client of the bus; empty: no positions, so no travel time
  Tick hop = 0;             // time from one column or row to the next

  [[nodiscard]] Tick between(int giver, int taker) const;
  [[nodiscard]] Tick to_edge(int core) const { return cores.empty() ? 0 : cores[core].edge; }
};

// One core's position as the machine file gives it.
struct CorePlace {
  double way_ns = 0, edge_way_ns = 0;
  int column = 0, row = 0;
};

// The positions of all cores, in use or not, as cpu_order `fill` numbers them. Errors: std::invalid_argument, with a text "KEY:
// TEXT" for the user, for a word that is not a latency or position, or for more words than cores.
std::vector<CorePlace> core_places(const MachineSpec& spec, const MachineLayout& layout);

// The positions of the cores in use on one bus. Errors: as for core_places().
BusPlaces places_on_bus(const MachineSpec& spec, const MachineLayout& layout, int bus, const Timebase& timebase);

}  // namespace linebounce
