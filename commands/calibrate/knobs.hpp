// The parameters that a fit may change.
#pragma once

#include <string>
#include <vector>

#include "commands/calibrate/blocks.hpp"
#include "models/machine_spec.hpp"

namespace linebounce::sim {

// Parameters that a fit turns together: all to the same value, or all by the same amount.
struct Knob {
  std::vector<std::string> paths;
  double minimum = 0;
  double step = 0.1;  // values are multiples of the step
  bool to_same_value = true;
};

// The knobs for all latencies on a line's way from one CPU to another. Of several knobs with the same effect, a fit changes
// the first. `access`: the receiver's operation, "load" or "atomic".
std::vector<Knob> knobs_of(const MachineSpec& machine, const std::vector<Block>& blocks, const std::string& access);

// The same knobs, but with one for all links together. Lengthening a single link makes messages take another route, which
// says little about the latency of links in general.
std::vector<Knob> with_links_as_one(const std::vector<Knob>& knobs);

}  // namespace linebounce::sim
