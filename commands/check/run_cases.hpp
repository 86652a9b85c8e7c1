// Runs cases of the random tester in separate processes.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "commands/check/random_case.hpp"
#include "sim/plan/process_pool.hpp"

namespace linebounce::sim {

enum class Verdict {
  passed,
  failed,   // the simulation stopped with an error, or crashed
  differs,  // the data differ without the engine's speed-ups
  refused,  // the machine can't be built
};

struct CaseResult {
  Verdict verdict = Verdict::passed;
  std::int64_t references = 0;  // random operations of all CPUs, not counting loads of spins
  std::uint64_t data_hash = 0;  // over all measured data
  bool compared = false;        // the run without the engine's speed-ups gave the same data
  Failure failure;              // the message
};

struct CaseRun {
  std::function<RandomCase()> make;  // makes the case; called in the case's own process
  bool compared = false;             // also run it without the engine's speed-ups; not compared if that takes too long
};

struct CaseLimits {
  int at_once = 1;
  unsigned seconds = 120;  // limit on processor time of each run; a run with speed-ups that exceeds it has failed
};

// Runs cases in order up to the first that does not pass, and returns the results including that one; fewer after an interrupt.
// `at_once` does not affect the result. `progress` receives the number of finished cases, including fractions for running ones.
std::vector<CaseResult> run_cases(const RandomBase& base, const std::vector<CaseRun>& runs, const CaseLimits& limits,
                                  InterruptGuard& guard, const std::function<void(double)>& progress);

// A failing case reduced to fewer operations, CPUs and changed settings.
struct Shrunk {
  RandomCase smallest;
  CaseResult result;  // of the smallest case
  int tries = 0;
  bool finished = false;  // true if nothing smaller fails; false if time ran out
};

// Reduces the case. A smaller case must fail in the same way: with the same exit code, or by differing data. Takes about
// `seconds`, plus at most one try. REQUIRES: `failing` gave `result`.
Shrunk shrink(const RandomBase& base, const RandomCase& failing, const CaseResult& result, int seconds, InterruptGuard& guard);

}  // namespace linebounce::sim
