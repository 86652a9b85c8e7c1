// Locks as a measured kernel had them, and what a trace of their mix is expected to show.
#pragma once

#include <optional>
#include <string>

#include "sim/sources/lock_mix.hpp"
#include "sim/sources/lock_statistics.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

// A line for each of the locks that were waited for most, most first, and below it where most of the waiting was. `seconds`:
// how long was measured, for the share of time that a lock was held.
std::string lock_statistics_table(const LockStatisticsFile& file, std::optional<double> seconds, const Painter& paint);

// The locks of a mix, what was measured of each beside what its replay is expected to show; empty if there are none.
std::string lock_mix_table(const LockMix& mix, const Painter& paint);

}  // namespace linebounce::sim
