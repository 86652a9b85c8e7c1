// Which words a run knows, and their values in every copy that takes data.
#pragma once

#include <cstddef>
#include <vector>

#include "sim/steps/recorded_steps.hpp"

namespace linebounce::sim {

// Forgets words that none of the run's steps uses: those behind its limit.
void keep_known_words(RecordedSteps& run);

// In place of each step in which a copy takes a line's data: one for each of its words; in memory and what stands in its
// place, only of those that change. `taken`: StepRecorder::taken(). REQUIRES: the steps are in order.
void tell_words_of_data(RecordedSteps& run, const std::vector<std::byte>& taken);

}  // namespace linebounce::sim
