#include "commands/check/run_cases.hpp"

#include <gtest/gtest.h>

#include "commands/check/mutation.hpp"

namespace linebounce::test {

using namespace sim;

namespace {

// The CPUs wait for one another and for a slow memory. With polling, each wait takes hundreds of loads.
CaseResult run_waiting(unsigned seconds) {  // of processor time
  const RandomBase base = random_base("generic_8socket_64core", {{"machine.cpus", "64"},
                                                                 {"machine.memory.latency_ns", "20000"},
                                                                 {"workload.lock_share", "100"},
                                                                 {"workload.load_share", "0"},
                                                                 {"workload.store_share", "100"}});
  const CaseRun run{[&base] { return random_case(base, 1, 0, 2000); }, true};
  InterruptGuard guard;
  const std::vector<CaseResult> results = run_cases(base, {run}, {.at_once = 2, .seconds = seconds}, guard, {});
  return results.at(0);
}

TEST(RunCases, WhatTakesTooLongWithoutTheSpeedUpsIsNotComparedAndNoFailure) {
  const CaseResult result = run_waiting(2);
  EXPECT_EQ(result.verdict, Verdict::passed) << result.failure.message;
  EXPECT_FALSE(result.compared);
  EXPECT_GT(result.references, 0);
}

}  // namespace
}  // namespace linebounce::test
