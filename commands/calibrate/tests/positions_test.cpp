#include "commands/calibrate/positions.hpp"

#include <gmock/gmock.h>

#include <cstdlib>

#include "commands/calibrate/mesh.hpp"
#include "matrices.hpp"
#include "sim/config/machine_file.hpp"

namespace linebounce::sim {
namespace {

using ::testing::IsEmpty;

MachineSpec generic(int cpus, int nodes) {
  MachineSpec machine = load_machine("generic_2socket_32core").spec;
  machine.cpus = machine.cpus_present = cpus;
  machine.nodes = nodes;
  machine.cpu_order = CpuOrder::fill;
  return machine;
}

FoundPositions positions_in(const MachineSpec& machine, const LatencyMatrix& matrix) {
  const MachineLayout layout = lay_out(machine);
  return find_positions(matrix, layout, blocks_of(machine, layout));
}

TEST(Positions, NoiseIsNotAPosition) {
  for (const int cpus : {4, 8, 16, 32}) {
    const auto matrix = made_up(
        cpus, [&](int a, int b) { return (a < cpus / 2) == (b < cpus / 2) ? 50.0 : 120.0; }, 0.08);
    EXPECT_FALSE(positions_in(generic(cpus, 2), matrix).positions.any()) << cpus;
  }
}

TEST(Positions, ACoresWayIsWhatItsPairsHaveInCommon) {
  // Core n adds 3 * n ns to all its pairs.
  const auto matrix = made_up(
      8, [](int a, int b) { return 40.0 + 3 * (a + b); }, 0);
  const FoundPositions found = positions_in(generic(8, 1), matrix);
  ASSERT_EQ(found.positions.way_ns.size(), 8U);
  for (int core = 0; core < 8; ++core) EXPECT_NEAR(found.positions.way_ns[static_cast<std::size_t>(core)], 3 * core, 0.1);
  EXPECT_THAT(found.positions.edge_way_ns, IsEmpty());
  EXPECT_EQ(found.positions.parameters, 7);
  EXPECT_LT(found.held_out, 1) << "from half of 28 pairs, 7 ways and a mean";
  EXPECT_GT(found.held_out_without, 5);
}

TEST(Positions, WaysToOtherBusesAreAMatterOfTheirOwn) {
  const auto matrix = made_up(
      16, [](int a, int b) { return a / 8 == b / 8 ? 40.0 : 150.0 + 4 * (a % 8 + b % 8); }, 0.01);
  const Positions found = positions_in(generic(16, 2), matrix).positions;
  EXPECT_THAT(found.way_ns, IsEmpty());
  ASSERT_EQ(found.edge_way_ns.size(), 16U);
  // Only differences between cores of one node are visible, not which node's cores are nearer.
  for (int core = 1; core < 8; ++core) {
    const auto at = static_cast<std::size_t>(core);
    EXPECT_NEAR(found.edge_way_ns[at] - found.edge_way_ns[0], 4 * core, 1);
    EXPECT_NEAR(found.edge_way_ns[at + 8] - found.edge_way_ns[8], 4 * core, 1);
  }
}

TEST(Positions, AMeshShowsInWhatWaysLeave) {
  // 4 x 4 tiles, with 3 ns for each hop. The line's home is at core 0, in the corner.
  const auto hops = [](int a, int b) { return std::abs(a % 4 - b % 4) + std::abs(a / 4 - b / 4); };
  const auto matrix = made_up(
      16, [&](int a, int b) { return 30.0 + 3 * (hops(a, b) + hops(a, 0) + hops(b, 0)); }, 0.01);
  const MachineSpec machine = generic(16, 1);
  const FoundPositions found = positions_in(machine, matrix);
  ASSERT_EQ(found.positions.places.size(), 16U);
  EXPECT_NEAR(found.positions.hop_ns, 3, 0.3);
  EXPECT_LT(found.held_out, found.held_out_without);
  for (std::size_t a = 0; a < 16; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      EXPECT_EQ(hops_between(found.positions.places[a], found.positions.places[b]),
                hops(static_cast<int>(a), static_cast<int>(b)))
          << a << " " << b;
    }
  }
}

TEST(Positions, WhatTheyAddIsTakenOffExactly) {
  const MachineSpec machine = generic(4, 2);
  const MachineLayout layout = lay_out(machine);
  Positions positions;
  positions.way_ns = {1, 2, 3, 4};
  positions.edge_way_ns = {10, 20, 30, 40};
  const auto matrix = made_up(
      4, [](int, int) { return 100.0; }, 0);
  const LatencyMatrix rest = without_positions(matrix, layout, positions);
  EXPECT_EQ(rest.at(0, 1), 97);
  EXPECT_EQ(rest.at(2, 3), 93);
  EXPECT_EQ(rest.at(0, 3), 50);
}

TEST(Mesh, RowsAndMeanOfAMatrixGoWithoutARest) {
  Square matrix(5);
  for (std::size_t a = 0; a < 5; ++a) {
    for (std::size_t b = 0; b < a; ++b) matrix.set(a, b, 7.0 + static_cast<double>(a * a) + static_cast<double>(b * b));
  }
  const Square rest = without_rows(matrix);
  for (std::size_t a = 0; a < 5; ++a) {
    for (std::size_t b = 0; b < a; ++b) EXPECT_NEAR(rest.at(a, b), 0, 1e-9);
  }
}

}  // namespace
}  // namespace linebounce::sim
