// The parameters that a fit may change.
#pragma once

#include <string>
#include <vector>

#include "models/machine_spec.hpp"
#include "sim/studies/calibrate/blocks.hpp"

namespace linebounce::sim {

// A knob. Several paths change together: to the same value, or by the same amount.
struct Knob {
  std::vector<std::string> paths;
  double minimum = 0;
  double step = 0.1;  // values are multiples of it
  bool to_same_value = true;
};

// All latencies that a line's way from one CPU to another may contain. Of several with the same effect, a fit changes the
// first. `access`: the receiver's operation, "load" or "atomic".
std::vector<Knob> knobs_of(const MachineSpec& machine, const std::vector<Block>& blocks, const std::string& access);

// The same with all links as one knob: if only one link becomes longer, messages take another way, which says little about
// their common latency.
std::vector<Knob> with_links_as_one(const std::vector<Knob>& knobs);

}  // namespace linebounce::sim
