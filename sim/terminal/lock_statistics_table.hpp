// The locks of a measured kernel, and what a replay of their mix should give.
#pragma once

#include <optional>
#include <string>

#include "sim/sources/lock_mix.hpp"
#include "sim/sources/lock_statistics.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

// One line for each of the locks with the most waiting, followed by the functions that waited longest. `seconds`: duration of
// the measurement, for the share of time that a lock was held.
std::string lock_statistics_table(const LockStatisticsFile& file, std::optional<double> seconds, const Painter& paint);

// For each lock of a mix, its measurements and the expected results of a replay. Empty if there are none.
std::string lock_mix_table(const LockMix& mix, const Painter& paint);

}  // namespace linebounce::sim
