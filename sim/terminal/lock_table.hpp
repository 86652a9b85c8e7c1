// The locks of one point for the terminal, in lockmeter's columns (Bryant, Hawkes: "Lockmeter", 2000), so that they can be
// compared with its printed reports.
#pragma once

#include <string>
#include <vector>

#include "sim/point/point_data.hpp"
#include "sim/results/paper.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

// A line for each lock, by name, followed by one for each of its call sites. `rows` as in locks.csv: a lock's own row precedes
// its call sites'. If there are many locks, those with the most waiting are shown, and the last line says so. Empty if no lock
// was taken.
std::string lock_table(const std::vector<LockRow>& rows, const Painter& paint);

// A line for each lock that excluded nobody and let sections overlap (locks.<lock>.races), with the point where most did; empty
// if there is none.
std::string race_note(const std::vector<ReportedPoint>& points, const Painter& paint);

}  // namespace linebounce::sim
