// Searches all interleavings of a lock case. The search continues only once from each state. A state is the content of memory
// and store buffers, and what each CPU has seen so far, so orders of steps that lead to the same state count as one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/interleavings/lock_run.hpp"

namespace linebounce::sim {

struct SearchLimits {
  std::uint64_t states = 500'000;
  int steps = 120;  // limit on the steps of one CPU; longer schedules are cut off
};

// A loop counts as waiting if this many iterations without a change do not leave it.
inline constexpr int kProbedTurns = 200;

struct SearchStep {
  int cpu = 0;
  std::string text;
  LockState after;
};

struct SearchResult {
  std::string violation;          // empty: none was found
  std::vector<SearchStep> steps;  // the steps that lead to the violation, with as few switches between CPUs as possible
  std::uint64_t states = 0;
  bool all_states = true;       // true if no limit was reached
  std::uint64_t cut_off = 0;    // schedules in which one CPU took more steps than SearchLimits::steps
  bool counts_turns = false;    // see LockCase::counts_turns
  bool has_loops = false;       // true if some loops counted as waiting
  bool left_out_draws = false;  // see LockRun::has_left_out_draws
  int most_passed = 0;          // see LockRun::most_passed

  [[nodiscard]] bool is_complete() const { return all_states && cut_off == 0; }
};

// Errors: NotCheckable, and whatever the lock throws.
SearchResult search(LockCase lock_case, const SearchLimits& limits);

}  // namespace linebounce::sim
