// The order of a run's steps. The kernel has none for what happens at one tick to several lines or in several places, and a
// core that runs ahead is told early: here every step gets a place that follows from the run alone, however fast the engine
// was.
#pragma once

#include "sim/steps/recorded_steps.hpp"

namespace linebounce::sim {

// By time. At one tick what comes from outside goes before what a core does by itself, as in the machine; the former by line,
// requests and packets before rows, and a bus's answers behind them, each place (a bus, a directory, a group) in its own order;
// the latter by core, in its order.
void put_in_order(RecordedSteps& run);

// Keeps the first `most` steps, data that copies take not counted. Messages that arrive behind the last of them have not
// arrived.
void cut_behind(RecordedSteps& run, std::size_t most);

}  // namespace linebounce::sim
