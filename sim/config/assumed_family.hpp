// The contention families that a machine could have, where its own was assumed.
#pragma once

#include <string>
#include <vector>

#include "sim/config/machine_tables.hpp"

namespace linebounce::sim {

struct AssumedFamily {
  std::string name;    // the machine's own
  std::string source;  // why it was assumed
  // The settings ("machine.contention=arm_mesh" first) that make the machine one of each other family that it could have. Empty
  // if the family was not assumed: a name of the processor gives it.
  std::vector<std::vector<std::string>> others;
};

// Considers only families whose memory order the machine has, unless that was assumed, too.
AssumedFamily assumed_family(const MachineTables& machine);

}  // namespace linebounce::sim
