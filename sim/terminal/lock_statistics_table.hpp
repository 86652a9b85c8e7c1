// A measured kernel's locks, and the expected results of a trace of their mix.
#pragma once

#include <optional>
#include <string>

#include "sim/sources/lock_mix.hpp"
#include "sim/sources/lock_statistics.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

// A line for each of the locks with the most waiting, most first, followed by where they waited most. `seconds`: the length of
// the measurement, for the share of time that a lock was held.
std::string lock_statistics_table(const LockStatisticsFile& file, std::optional<double> seconds, const Painter& paint);

// The locks of a mix: the measurements of each beside its replay's expected results; empty if there are none.
std::string lock_mix_table(const LockMix& mix, const Painter& paint);

}  // namespace linebounce::sim
