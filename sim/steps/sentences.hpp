// Describes every step of a run in a sentence, as a lecturer would: for a page's caption, a screen reader or a terminal.
#pragma once

#include <string>
#include <vector>

#include "sim/steps/recorded_steps.hpp"

namespace linebounce::sim {

// One sentence for each step, in order. They name words and objects instead of addresses, and use the textbook's words for
// states.
std::vector<std::string> sentences(const RecordedSteps& run);

}  // namespace linebounce::sim
