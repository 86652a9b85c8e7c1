// What a fit may turn.
#pragma once

#include <string>
#include <vector>

#include "models/machine_spec.hpp"
#include "sim/studies/calibrate/blocks.hpp"

namespace linebounce::sim {

// Several paths are turned together: to the same value, or each by as much.
struct Knob {
  std::vector<std::string> paths;
  double minimum = 0;
  double step = 0.1;  // values are multiples of it
  bool to_same_value = true;
};

// All latencies of a machine that a line's way from one CPU to another may have in it. Where several do the same, a fit takes
// the first. `access`: what the receiver does with a line, "load" or "atomic".
std::vector<Knob> knobs_of(const MachineSpec& machine, const std::vector<Block>& blocks, const std::string& access);

// The same with all links turned by one knob: a link that alone becomes longer only sends messages another way, which says
// little about what they all have in common.
std::vector<Knob> with_links_as_one(const std::vector<Knob>& knobs);

}  // namespace linebounce::sim
