// Runs cases of the random tester in separate processes.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sim/plan/process_pool.hpp"
#include "sim/tester/random_case.hpp"

namespace linebounce::sim {

enum class Verdict {
  passed,
  failed,   // the simulation stopped, or crashed
  differs,  // without the engine's speed-ups it gives other data
  refused,  // the machine can't be built
};

struct CaseResult {
  Verdict verdict = Verdict::passed;
  std::int64_t references = 0;  // random operations of all CPUs, without the loads of spins
  std::uint64_t data_hash = 0;  // over all measured data
  bool compared = false;        // whether the data are the same without the engine's speed-ups
  Failure failure;              // the message
};

struct CaseRun {
  std::function<RandomCase()> make;  // called in the case's own process
  bool compared = false;             // also run it without the engine's speed-ups, if that ends in time
};

struct CaseLimits {
  int at_once = 1;
  unsigned seconds = 120;  // processor time for each run of a case; with the speed-ups, a longer run has failed
};

// Runs them in order up to the first that does not pass, and returns the results up to and including that one. Which one that
// is does not depend on `at_once`. After an interrupt, fewer. `progress`: told the number of finished ones, with shares of
// others.
std::vector<CaseResult> run_cases(const RandomBase& base, const std::vector<CaseRun>& runs, const CaseLimits& limits,
                                  InterruptGuard& guard, const std::function<void(double)>& progress);

// A failing case reduced to fewer operations, CPUs and changed settings.
struct Shrunk {
  RandomCase smallest;
  CaseResult result;  // of the smallest case
  int tries = 0;
  bool finished = false;  // nothing smaller fails; false if the time was up
};

// A smaller case must fail in the same way: with the same exit code, or by differing data. Takes about `seconds`, at most one
// try more. REQUIRES: `failing` gives `result`.
Shrunk shrink(const RandomBase& base, const RandomCase& failing, const CaseResult& result, int seconds, InterruptGuard& guard);

}  // namespace linebounce::sim
