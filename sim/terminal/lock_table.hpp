// The locks of one point for the terminal, with lockmeter's columns (Bryant, Hawkes: "Lockmeter", 2000), so that they can be
// compared with published reports.
#pragma once

#include <string>
#include <vector>

#include "sim/point/point_data.hpp"
#include "sim/results/reported_point.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

// One row for each lock, sorted by name, followed by one row for each of its call sites. `rows` as in locks.csv, where a
// lock's own row precedes its call sites. If there are too many rows, shows the locks that CPUs wait for most, and says so in
// the last line. Empty if no lock was taken.
std::string lock_table(const std::vector<LockRow>& rows, const Painter& paint);

// A line for each lock that failed to exclude, so that critical sections overlapped (locks.<lock>.races). Names the point
// with the most overlaps. Empty if there is no such lock.
std::string race_note(const std::vector<ReportedPoint>& points, const Painter& paint);

}  // namespace linebounce::sim
