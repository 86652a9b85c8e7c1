// A failing case made small: fewer operations, fewer CPUs, fewer settings that differ from the machine's own.
#pragma once

#include "sim/tester/run_cases.hpp"

namespace linebounce::sim {

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
