// Searches all interleavings of a lock case. A state consists of memory, store buffers, and what each CPU has seen so far. The
// search continues only once from each state, so different orders of steps that lead to one state count once.
#pragma once

#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include "sim/interleavings/lock_run.hpp"

namespace linebounce::sim {

struct SearchLimits {
  std::uint64_t states = 500'000;
  int steps = 120;  // most steps of one CPU; a longer schedule is cut off
  // This process's CPU time, as of std::clock(), after which the search stops as at the limit of states. None: never.
  std::optional<std::clock_t> until = {};
  // True if one of several orders that nobody can tell apart is enough, because they differ in when a CPU touches bytes that no
  // other CPU ever touches.
  bool one_of_equals = true;
  // True if a loop that sees the same values again counts as waiting. If not, each number of turns is searched.
  bool loops_wait = true;
};

struct SearchStep {
  int cpu = 0;
  std::string text;
  LockState after;
};

struct SearchResult {
  std::string violation;          // empty: none was found
  std::vector<SearchStep> steps;  // the steps to the violation, with as few switches between CPUs as possible
  std::uint64_t states = 0;
  bool all_states = true;         // true if the limit on states was not reached
  std::uint64_t cut_off = 0;      // schedules cut off because one CPU took SearchLimits::steps steps
  bool counts_turns = false;      // true if the lock leaves some loops by itself (see EndingLoops)
  bool has_loops = false;         // true if loops counted as waiting
  bool left_out_draws = false;    // see LockRun::has_left_out_draws
  bool left_out_seconds = false;  // see LockRun::has_left_out_seconds
  int most_passed = 0;            // see LockRun::most_passed

  [[nodiscard]] bool is_complete() const { return all_states && cut_off == 0; }
};

// Errors: NotCheckable, and whatever the lock throws.
SearchResult search(LockCase lock_case, const SearchLimits& limits);

}  // namespace linebounce::sim
