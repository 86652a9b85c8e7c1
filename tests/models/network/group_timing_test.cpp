#include "models/network/group_timing.hpp"

#include <gmock/gmock.h>

#include <array>
#include <stdexcept>

namespace linebounce {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

GroupSpec ring(int members, int slices) {
  GroupSpec spec;
  spec.name = "L3";
  spec.members = members;
  spec.slices = slices;
  return spec;
}

TEST(GroupTiming, MembersAreSpreadOverTheStops) {
  EXPECT_THAT(stops_of_members(ring(4, 8)), ElementsAre(0, 2, 4, 6));
  EXPECT_THAT(stops_of_members(ring(3, 2)), ElementsAre(0, 0, 1));
  GroupSpec spec = ring(2, 8);
  spec.positions = "1 7";
  EXPECT_THAT(stops_of_members(spec), ElementsAre(1, 7));
}

TEST(GroupTiming, ARingIsGoneTheShorterWayAndAMeshInRows) {
  EXPECT_THAT(hops_between_stops(ring(2, 6))[1], ElementsAre(1, 0, 1, 2, 3, 2));
  GroupSpec mesh = ring(2, 6);
  mesh.slice_topology = SliceTopology::mesh;
  EXPECT_THAT(hops_between_stops(mesh)[0], ElementsAre(0, 1, 2, 1, 2, 3)) << "two rows of three";
}

// Buses 0 and 1 are members of group 5, buses 2 and 3 of group 6; endpoint 4 is the directory. Each group has eight slices on a
// ring, where its members are at stops 0 and 4. A way in a group takes 5 ns for the link and 2 for each hop.
class TwoGroups : public testing::Test {
 protected:
  static MachineSpec spec() {
    MachineSpec spec;
    spec.cpus = spec.cpus_present = spec.buses_per_node = 4;
    spec.groups = {ring(2, 8)};
    spec.groups[0].link_ns = 5;
    spec.groups[0].slice_hop_ns = 2;
    return spec;
  }
  [[nodiscard]] double ns(int sender, int receiver, std::uint64_t line = 0) const {
    return timebase_.to_ns(timing_.way(sender, receiver, LineAddr(line)));
  }
  const MachineSpec spec_ = spec();
  const MachineLayout layout_ = lay_out(spec_);
  const Timebase timebase_{std::array{Frequency{1000, 1}}};
  const GroupTiming timing_{spec_, layout_, timebase_};
  static constexpr int kDirectory = 4, kFirstGroup = 5, kSecondGroup = 6;
};

TEST_F(TwoGroups, AWayInAGroupIsALinkAndTheHopsBetweenItsStops) {
  EXPECT_EQ(ns(0, kFirstGroup), 5) << "line 0 is in slice 0, at the stop of bus 0";
  EXPECT_EQ(ns(1, kFirstGroup), 5 + 4 * 2);
  EXPECT_EQ(ns(kFirstGroup, 1), 5 + 4 * 2);
  EXPECT_EQ(ns(0, 1), 5 + 4 * 2);
  EXPECT_EQ(ns(2, 3), 5 + 4 * 2);
}

TEST_F(TwoGroups, AMessageThatLeavesItsGroupPaysForItsLinksInstead) {
  EXPECT_EQ(ns(0, 2), 0) << "to a member of the other group";
  EXPECT_EQ(ns(2, 1), 0);
  EXPECT_EQ(ns(kFirstGroup, kSecondGroup), 0);
  EXPECT_EQ(ns(kSecondGroup, 0), 0);
  EXPECT_EQ(ns(kDirectory, kFirstGroup), 0);
  EXPECT_EQ(ns(kDirectory, 3), 0);
  EXPECT_EQ(ns(kFirstGroup, -1), 0) << "to the directory of the line's home";
}

// The slice of line n is n ^ n >> 7 ^ n >> 13 modulo 8. Without the shifted terms, all lines at a distance of 8 or of any
// larger power of two would be in one slice.
TEST_F(TwoGroups, LinesAtDistancesOfPowersOfTwoAreInDifferentSlices) {
  EXPECT_EQ(ns(0, kFirstGroup, 1), 5 + 2);
  EXPECT_EQ(ns(0, kFirstGroup, 3), 5 + 3 * 2);
  EXPECT_EQ(ns(0, kFirstGroup, 1 << 7), 5 + 2);
  EXPECT_EQ(ns(0, kFirstGroup, 1 << 13), 5 + 2);
}

TEST(GroupTiming, WithoutGroupsNoLatencyIsAdded) {
  MachineSpec spec;
  spec.cpus = spec.cpus_present = spec.nodes = 2;
  const MachineLayout layout = lay_out(spec);
  const GroupTiming timing(spec, layout, Timebase(std::array{Frequency{1000, 1}}));
  EXPECT_EQ(timing.way(0, 3, LineAddr(7)), 0) << "not a tick, from the bus of node 0 to the directory of node 1";
}

TEST(GroupTiming, AnImpossibleGroupingIsRefusedWithItsKey) {
  const auto refusal = [](const auto& work) -> std::string {
    try {
      work();
    } catch (const std::invalid_argument& refused) {
      return refused.what();
    }
    return "no error";
  };
  GroupSpec spec = ring(2, 4);
  spec.positions = "0 4";
  EXPECT_EQ(refusal([&] { stops_of_members(spec); }),
            "machine.group.L3.positions: '4' is not a stop; legal: numbers from 0 to 3");
  spec.positions = "0";
  EXPECT_THAT(refusal([&] { stops_of_members(spec); }), HasSubstr("1 stops for 2 members"));
  spec.slice_topology = SliceTopology::mesh;
  spec.slice_columns = 3;
  EXPECT_THAT(refusal([&] { hops_between_stops(spec); }), HasSubstr("machine.group.L3.slice_columns: 4 stops"));
}

}  // namespace
}  // namespace linebounce
