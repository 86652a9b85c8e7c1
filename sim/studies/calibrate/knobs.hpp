// The parameters that a fit may change.
#pragma once

#include <string>
#include <vector>

#include "models/machine_spec.hpp"
#include "sim/studies/calibrate/blocks.hpp"

namespace linebounce::sim {

// Parameters that a fit turns together: all paths change to the same value, or by the same amount.
struct Knob {
  std::vector<std::string> paths;
  double minimum = 0;
  double step = 0.1;  // values are multiples of it
  bool to_same_value = true;
};

// All latencies that may be part of a line's way from one CPU to another. If several have the same effect, a fit changes the
// first one. `access`: the receiver's operation, "load" or "atomic".
std::vector<Knob> knobs_of(const MachineSpec& machine, const std::vector<Block>& blocks, const std::string& access);

// The same knobs, but with one for all links: if a single link becomes longer, messages take another route, which says little
// about the latency that links have in common.
std::vector<Knob> with_links_as_one(const std::vector<Knob>& knobs);

}  // namespace linebounce::sim
