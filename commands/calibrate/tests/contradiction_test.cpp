#include <gtest/gtest.h>

#include <cmath>

#include "commands/calibrate/latency_matrix.hpp"
#include "matrices.hpp"

namespace linebounce::sim {
namespace {

// One bus, cores with `threads` threads each, numbered in sequence.
MachineLayout cores_of(int cpus, int threads) {
  MachineLayout layout;
  for (int cpu = 0; cpu < cpus; ++cpu) layout.cpus.push_back({0, 0, cpu / threads, cpu % threads});
  return layout;
}

TEST(Contradiction, ThreadsThatAreAlikeDoNotContradict) {
  const auto by_core = [](int a, int b) {
    const int one = a / 2;
    const int other = b / 2;
    return one == other ? 6.0 : 20.0 + one + 3 * other;
  };
  const Contradiction found = find_contradiction(made_up(8, by_core, 0), cores_of(8, 2));
  EXPECT_NEAR(found.threads_ns, 0, 1e-6);
  EXPECT_EQ(found.measured_again, 6 * 3);
}

TEST(Contradiction, WhatThreadsDifferByIsTheLeastThatAnyMachineIsOff) {
  // Two cores with two threads: of the four pairs between them two take 30 ns and two 40 ns; a core's own pair takes 6 ns.
  const auto ns = [](int a, int b) { return a / 2 == b / 2 ? 6.0 : b % 2 == 0 ? 30.0 : 40.0; };
  const Contradiction found = find_contradiction(made_up(4, ns, 0), cores_of(4, 2));
  EXPECT_NEAR(found.threads_ns, std::sqrt(4 * 25.0 / 6), 1e-9);
}

TEST(Contradiction, CoresOfOneThreadAreMeasuredOnce) {
  const Contradiction found = find_contradiction(made_up(8, [](int a, int b) { return 20.0 + 3 * a + b; }), cores_of(8, 1));
  EXPECT_EQ(found.measured_again, 0);
  EXPECT_EQ(found.threads_ns, 0);
}

TEST(ThereAndBack, AreComparedWhereAPairWasMeasuredBothWays) {
  LatencyMatrix matrix(3);
  matrix.set_both(1, 0, 20, 26);
  matrix.set_both(2, 0, 28, 20);
  matrix.set(2, 1, 50);
  EXPECT_EQ(matrix.at(0, 1), 23);
  const ThereAndBack found = compare_there_and_back(matrix);
  EXPECT_EQ(found.pairs, 2);
  EXPECT_NEAR(found.apart_ns, std::sqrt((6.0 * 6 + 8.0 * 8) / 2), 1e-9);
}

TEST(ThereAndBack, OfAMatrixWithOneTriangleAreUnknown) {
  EXPECT_EQ(compare_there_and_back(made_up(4, [](int, int) { return 50.0; })).pairs, 0);
}

}  // namespace
}  // namespace linebounce::sim
