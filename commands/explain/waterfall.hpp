// A miss's stages as a waterfall in the terminal.
#pragma once

#include <string>

#include "commands/steps/explained_misses.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

// How one miss spent its time: a row for each stage, the sums of travel and queueing, and a sentence for each wait.
std::string waterfall_text(const ExplainedMiss& miss, const Endpoints& endpoints, double ns_per_tick, const Painter& paint);

}  // namespace linebounce::sim
