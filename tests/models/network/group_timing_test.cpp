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
