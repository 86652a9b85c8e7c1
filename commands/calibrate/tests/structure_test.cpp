#include "commands/calibrate/structure.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>

#include "matrices.hpp"

namespace linebounce::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

std::vector<int> shape(const Structure& structure) {
  return {structure.nodes, structure.buses_per_node, structure.threads_per_core};
}

std::vector<int> nodes_of(const Structure& structure) {
  std::vector<int> nodes;
  for (const Seat& seat : structure.seats) nodes.push_back(seat.node);
  return nodes;
}

TEST(Structure, CpusThatAreAllAlikeAreOneBus) {
  for (const int cpus : {2, 3, 8, 16}) {
    const Structure found = find_structure(made_up(
        cpus, [](int, int) { return 40.0; }, 0.08));
    EXPECT_THAT(shape(found), ElementsAre(1, 1, 1)) << cpus;
    EXPECT_THAT(found.notes, IsEmpty());
  }
}

TEST(Structure, TwoSocketsAreTwoNodes) {
  const Structure found = find_structure(made_up(12, [](int a, int b) { return a / 6 == b / 6 ? 40.0 : 110.0; }));
  EXPECT_THAT(shape(found), ElementsAre(2, 1, 1));
  EXPECT_THAT(nodes_of(found), ElementsAre(0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1));
}

TEST(Structure, CpuNumbersNeedNotBeSideBySide) {
  const Structure found = find_structure(made_up(8, [](int a, int b) { return a % 2 == b % 2 ? 40.0 : 110.0; }));
  EXPECT_THAT(nodes_of(found), ElementsAre(0, 1, 0, 1, 0, 1, 0, 1));
}

TEST(Structure, ClustersOfASocketAreItsBuses) {
  const Structure found = find_structure(made_up(16, [](int a, int b) {
    if (a / 4 == b / 4) return 25.0;
    return a / 8 == b / 8 ? 90.0 : 200.0;
  }));
  EXPECT_THAT(shape(found), ElementsAre(2, 2, 1));
  EXPECT_EQ(found.seats[4].bus, 1);
  EXPECT_EQ(found.seats[15].bus, 3);
}

TEST(Structure, ThreadsOfACoreAreMuchNearerThanAnythingElse) {
  // CPUs 0 and 6 share a core, as Linux numbers them. CPUs 0 to 2 and 6 to 8 share a socket.
  const Structure found = find_structure(made_up(12, [](int a, int b) {
    if (a % 6 == b % 6) return 7.0;
    return (a % 6) / 3 == (b % 6) / 3 ? 37.0 : 75.0;
  }));
  EXPECT_THAT(shape(found), ElementsAre(2, 1, 2));
  EXPECT_EQ(found.seats[0].core, found.seats[6].core);
  EXPECT_EQ(found.seats[6].thread, 1);
}

TEST(Structure, PairsOfCoresThatAreNotThreadsAreClusters) {
  const Structure found = find_structure(made_up(8, [](int a, int b) { return a / 2 == b / 2 ? 30.0 : 100.0; }));
  EXPECT_THAT(shape(found), ElementsAre(4, 1, 1));
  EXPECT_EQ(found.topology, Topology::fully_connected);
}

TEST(Structure, ManySmallGroupsAreTilesOfOneChip) {
  const Structure found = find_structure(made_up(20, [](int a, int b) { return a / 2 == b / 2 ? 150.0 : 250.0; }));
  EXPECT_THAT(shape(found), ElementsAre(1, 10, 1));
}

TEST(Structure, NodesWithTwoNearNeighboursEachAreARing) {
  const auto hops = [](int a, int b) { return std::min(std::abs(a - b), 4 - std::abs(a - b)); };
  const Structure found =
      find_structure(made_up(16, [&](int a, int b) { return a / 4 == b / 4 ? 60.0 : 200.0 + 100.0 * hops(a / 4, b / 4); }));
  EXPECT_THAT(shape(found), ElementsAre(4, 1, 1));
  EXPECT_EQ(found.topology, Topology::ring);
}

TEST(Structure, NodesOfARingAreNumberedRoundIt) {
  // In order of their lowest CPUs, nodes 2 and 3 are the neighbours of node 0, and node 1 is opposite.
  constexpr int kPlace[] = {0, 2, 1, 3};
  const Structure found = find_structure(made_up(8, [&](int a, int b) {
    if (a / 2 == b / 2) return 60.0;
    return std::abs(kPlace[a / 2] - kPlace[b / 2]) == 2 ? 400.0 : 300.0;
  }));
  EXPECT_EQ(found.topology, Topology::ring);
  EXPECT_THAT(nodes_of(found), ElementsAre(0, 0, 2, 2, 1, 1, 3, 3));
}

TEST(Structure, OtherNetworksHaveALinkWhereNodesAreNear) {
  // A star: paths between the outer nodes lead through node 0, in the centre. With three nodes, it would be a chain.
  const Structure found = find_structure(made_up(8, [](int a, int b) {
    if (a / 2 == b / 2) return 50.0;
    return b / 2 == 0 ? 150.0 : 240.0;
  }));
  EXPECT_EQ(found.topology, Topology::links);
  EXPECT_THAT(found.links, ElementsAre(Pair(0, 1), Pair(0, 2), Pair(0, 3)));
}

TEST(Structure, ASlowPairDoesNotChangeIt) {
  LatencyMatrix matrix = made_up(12, [](int a, int b) { return a / 6 == b / 6 ? 40.0 : 110.0; });
  matrix.set(3, 1, 500);
  EXPECT_THAT(shape(find_structure(matrix)), ElementsAre(2, 1, 1));
}

TEST(Structure, GroupsMayBeOfDifferentSizes) {
  const Structure found = find_structure(made_up(10, [](int a, int b) { return (a < 6) == (b < 6) ? 40.0 : 110.0; }));
  EXPECT_THAT(shape(found), ElementsAre(2, 1, 1));
  EXPECT_EQ(found.cores_per_bus, 6);
  EXPECT_TRUE(found.uneven());
  EXPECT_THAT(found.hardware_threads, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
  EXPECT_THAT(nodes_of(found), ElementsAre(0, 0, 0, 0, 0, 0, 1, 1, 1, 1));
}

TEST(Structure, SomeCoresMayHaveOneThreadAlone) {
  // Numbered as on hybrid processors: two large cores with two threads each, then four small ones.
  const Structure found = find_structure(made_up(8, [](int a, int b) { return a < 4 && a / 2 == b / 2 ? 5.0 : 40.0; }));
  EXPECT_THAT(shape(found), ElementsAre(1, 1, 2));
  EXPECT_EQ(found.cores_per_bus, 6);
  EXPECT_THAT(found.hardware_threads, ElementsAre(0, 1, 2, 3, 4, 6, 8, 10));
}

TEST(Structure, ASocketWhoseGroupsReachEachOtherOverTheOtherOneIsOne) {
  // Groups of two CPUs. Groups 0 to 3 are in the socket of the line's home. The other groups reach each other through it.
  const Structure found = find_structure(made_up(
      16,
      [](int a, int b) {
        if (a / 2 == b / 2) return 25.0;
        return a < 8 && b < 8 ? 100.0 : 200.0;
      },
      0.02));
  EXPECT_THAT(shape(found), ElementsAre(2, 4, 1));
  EXPECT_EQ(found.home, 0);
}

TEST(Structure, WhereBothSocketsShowTheHomeDoesNot) {
  const Structure found = find_structure(made_up(16, [](int a, int b) {
    if (a / 2 == b / 2) return 25.0;
    return a / 8 == b / 8 ? 90.0 : 200.0;
  }));
  EXPECT_THAT(shape(found), ElementsAre(2, 4, 1));
  EXPECT_EQ(found.home, -1);
}

}  // namespace
}  // namespace linebounce::sim
