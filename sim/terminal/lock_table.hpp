// The locks of one point for the terminal, in lockmeter's columns (Bryant, Hawkes: "Lockmeter", 2000), so that they can be held
// against its printed reports.
#pragma once

#include <string>
#include <vector>

#include "sim/point/point_data.hpp"
#include "sim/results/paper.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

// A line for each lock, by name, and below it one for each of its call sites. `rows` as in locks.csv: a lock's own row stands
// before its call sites'. Of more locks than anybody reads those that were waited for most; the last line says so. Empty if no
// lock was taken.
std::string lock_table(const std::vector<LockRow>& rows, const Painter& paint);

// What locks are to a point, by which points are compared: first what CPUs waited for them, then how long they were held.
struct LockLoad {
  double waited_pct = 0;  // of all CPUs' time
  double held_pct = 0;    // of the time, summed over the locks
  friend auto operator<=>(const LockLoad&, const LockLoad&) = default;
};
LockLoad lock_load(const std::vector<LockRow>& rows);

// A line for each lock that was none and let sections overlap (locks.<lock>.races), with the point where most did; empty if
// there is none.
std::string race_note(const std::vector<ReportedPoint>& points, const Painter& paint);

// What a sweep over locks and CPUs is run for, as a sentence: which lock does most.
// "At 32 CPUs mcs does most: 2100000 ±45000 operations/s, 18 % more than ticket, the next." Where intervals overlap: which
// locks can't be told apart. Empty for other sweeps, for fewer than two locks, and as long as a lock's largest number of CPUs
// has no result.
std::string lock_answer(const std::vector<ReportedPoint>& points);

}  // namespace linebounce::sim
