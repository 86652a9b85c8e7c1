// All interleavings of a lock case: each state is gone on from once. A state is what memory and store buffers hold, and what
// each CPU has seen so far; so orders of steps that nobody can tell apart are one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/interleavings/lock_run.hpp"

namespace linebounce::sim {

struct SearchLimits {
  std::uint64_t states = 500'000;
  int steps = 120;  // of one CPU; schedules in which a CPU takes more are cut off
};

// A loop is taken to wait if it goes on for so many turns without a change.
inline constexpr int kProbedTurns = 200;

struct SearchStep {
  int cpu = 0;
  std::string text;
  LockState after;
};

struct SearchResult {
  std::string violation;          // empty: none was found
  std::vector<SearchStep> steps;  // that lead to it, with as few switches between CPUs as any
  std::uint64_t states = 0;
  bool all_states = true;       // no limit was met: there are no others
  std::uint64_t cut_off = 0;    // schedules in which one CPU took more steps than SearchLimits::steps
  bool counts_turns = false;    // as LockCase::counts_turns
  bool has_loops = false;       // some were taken to wait
  bool left_out_draws = false;  // as LockRun::has_left_out_draws
  int most_passed = 0;          // as LockRun::most_passed

  [[nodiscard]] bool is_complete() const { return all_states && cut_off == 0; }
};

// Errors: NotCheckable, and whatever the lock throws.
SearchResult search(LockCase lock_case, const SearchLimits& limits);

}  // namespace linebounce::sim
