#include "commands/calibrate/numbering.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

namespace linebounce::sim {
namespace {

using testing::HasSubstr;

// Two nodes of four cores with two threads each. As on most servers, the first threads of all cores come first.
MachineTopology two_nodes() {
  MachineTopology topology;
  for (int number = 0; number < 16; ++number) {
    const int core = number % 8;
    topology.cpus.push_back({.number = number, .node = core / 4, .package = core / 4, .cache = core / 4, .core = core});
  }
  return topology;
}

// The machine's matrix, whose CPUs are in this order of the topology's.
LatencyMatrix matrix_in(const std::vector<int>& order) {
  const MachineTopology topology = two_nodes();
  LatencyMatrix matrix(static_cast<int>(order.size()));
  for (int a = 0; a < matrix.cpus(); ++a) {
    for (int b = 0; b < a; ++b) {
      const TopologyCpu &one = topology.cpus[order[a]], &other = topology.cpus[order[b]];
      const double noise = (7 * a + 3 * b) % 5;
      matrix.set(a, b, (one.core == other.core ? 10 : one.node == other.node ? 50 : 120) + noise);
    }
  }
  return matrix;
}

std::vector<int> as_numbered() {
  std::vector<int> order(16);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

TEST(Numbering, AMatrixWithTheTopologysNumbersFits) {
  const NumberingFits fits = compare_numberings(matrix_in(as_numbered()), two_nodes());
  EXPECT_FALSE(fits.differ());
  EXPECT_LT(fits.given.spread, 0.05);
}

TEST(Numbering, ThreadsOneAfterTheOtherAreRecognised) {
  std::vector<int> order;
  for (int core = 0; core < 8; ++core) order.insert(order.end(), {core, core + 8});
  const NumberingFits fits = compare_numberings(matrix_in(order), two_nodes());
  EXPECT_TRUE(fits.differ());
  EXPECT_THAT(fits.best.order, HasSubstr("the threads of a core one after the other"));
  EXPECT_LT(fits.best.spread, 0.05);
}

TEST(Numbering, TurnsOfTheNodesAreRecognised) {
  std::vector<int> order;
  for (const int first : {0, 8}) {
    for (int core = 0; core < 4; ++core) order.insert(order.end(), {first + core, first + core + 4});
  }
  const NumberingFits fits = compare_numberings(matrix_in(order), two_nodes());
  EXPECT_TRUE(fits.differ());
  EXPECT_THAT(fits.best.order, HasSubstr("in turns of the nodes"));
}

// Nothing can be said of an order that no tool uses, so the fit goes on and shows its error.
TEST(Numbering, AnOrderThatNoToolUsesIsNotBlamed) {
  std::vector<int> order = as_numbered();
  std::ranges::sort(order, {}, [](int cpu) { return (cpu * 11 + 5) % 16; });
  EXPECT_FALSE(compare_numberings(matrix_in(order), two_nodes()).differ());
}

}  // namespace
}  // namespace linebounce::sim
