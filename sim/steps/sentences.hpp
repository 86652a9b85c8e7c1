// A sentence for every step of a run, as a lecturer would say it: for a page's caption, a screen reader, a terminal.
#pragma once

#include <string>
#include <vector>

#include "sim/steps/recorded_steps.hpp"

namespace linebounce::sim {

// One a step, in their order. Names of words and objects stand for addresses, the textbook's words for states.
std::vector<std::string> sentences(const RecordedSteps& run);

}  // namespace linebounce::sim
