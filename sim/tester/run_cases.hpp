// Cases of the random tester in processes of their own.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sim/plan/process_pool.hpp"
#include "sim/tester/random_case.hpp"

namespace linebounce::sim {

enum class Verdict {
  passed,
  failed,   // the simulation stopped, or broke down
  differs,  // with the engine's speed-ups off, it gives other data
  refused,  // the machine can't be built
};

struct CaseResult {
  Verdict verdict = Verdict::passed;
  std::int64_t references = 0;  // random operations of all CPUs; the loads of spins don't count
  std::uint64_t data_hash = 0;  // of all that it measured
  bool compared = false;        // the data are the same with the engine's speed-ups off
  Failure failure;              // what was said
};

struct CaseRun {
  std::function<RandomCase()> make;  // called in the case's own process
  bool compared = false;             // also with the engine's speed-ups off, if that ends in time
};

struct CaseLimits {
  int at_once = 1;
  unsigned seconds = 120;  // of processor time for each run of a case; with the speed-ups on, one that takes longer has failed
};

// Runs them in order, and stops at the first one that does not pass: the results of those before it and its own. Which one that
// is does not depend on `at_once`. After an interrupt, fewer. `progress` is told how many have ended, with shares of others.
std::vector<CaseResult> run_cases(const RandomBase& base, const std::vector<CaseRun>& runs, const CaseLimits& limits,
                                  InterruptGuard& guard, const std::function<void(double)>& progress);

// A failing case made small: fewer operations, fewer CPUs, fewer settings that differ from the machine's own.
struct Shrunk {
  RandomCase smallest;
  CaseResult result;  // of the smallest
  int tries = 0;
  bool finished = false;  // nothing smaller fails; else the time was up
};

// What fails must fail in the same way: with the same exit code, or by differing data. Takes about `seconds`, at most one try
// more. REQUIRES: `failing` gives `result`.
Shrunk shrink(const RandomBase& base, const RandomCase& failing, const CaseResult& result, int seconds, InterruptGuard& guard);

}  // namespace linebounce::sim
