// A sentence for every step of a run, as a lecturer would say it: for a page's caption, a screen reader, a terminal.
#pragma once

#include <string>
#include <vector>

#include "sim/steps/recorded_steps.hpp"

namespace linebounce::sim {

// One for each step, in order. Names of words and objects replace addresses, the textbook's words replace states.
std::vector<std::string> sentences(const RecordedSteps& run);

}  // namespace linebounce::sim
