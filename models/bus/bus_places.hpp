// Where the cores of one bus are, if they are not all alike: as the stops of a ring or the tiles of a mesh. The protocol sees a
// bus, on which everything has one order; places only say how long a line is under way between two cores, or between a core and
// the edge, through which lines come from and go to whatever else there is.
#pragma once

#include <vector>

#include "models/machine_layout.hpp"
#include "models/machine_spec.hpp"
#include "models/timebase.hpp"

namespace linebounce {

struct BusPlaces {
  struct Core {
    Tick way = 0;   // a line's to or from another core of the bus, beside the hops
    Tick edge = 0;  // a line's to or from the edge
    int column = 0, row = 0;
  };
  std::vector<Core> cores;  // by client of the bus; empty: all are alike
  Tick hop = 0;             // from one column or row to the next

  [[nodiscard]] Tick between(int giver, int taker) const;
  [[nodiscard]] Tick to_edge(int core) const { return cores.empty() ? 0 : cores[static_cast<std::size_t>(core)].edge; }
};

// What the machine file says of a core.
struct CorePlace {
  double way_ns = 0, edge_way_ns = 0;
  int column = 0, row = 0;
};

// Of all cores that the machine has, as `fill` numbers them.
// Errors: std::invalid_argument, "KEY: TEXT" for a user: a word that is no latency or place, more of them than cores.
std::vector<CorePlace> core_places(const MachineSpec& spec, const MachineLayout& layout);

// Of the cores in use on one bus. Errors: likewise.
BusPlaces places_on_bus(const MachineSpec& spec, const MachineLayout& layout, int bus, const Timebase& timebase);

}  // namespace linebounce
