// The locks of a measured kernel, and what a replay of their mix should give.
#pragma once

#include <optional>
#include <string>

#include "forms/lock_mix.hpp"
#include "forms/lock_statistics.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

// One row for each of the locks with the most waiting, each followed by the functions in which CPUs waited most often.
// `seconds`: duration of the measurement; without it, the share of time for which a lock was held is left out.
std::string lock_statistics_table(const LockStatisticsFile& file, std::optional<double> seconds, const Painter& paint);

// For each lock of a mix, its measured figures and those that a replay is expected to give. Empty if the mix has no lock.
std::string lock_mix_table(const LockMix& mix, const Painter& paint);

}  // namespace linebounce::sim
