// What a miss costs on a machine with groups, stage by stage, as latencies_test.cpp has it without: the way from a member to
// the group's controller is 5 ns, a pass there 10, its cache's first data 30 later. One CPU a bus, all in one node.
#include <gtest/gtest.h>

#include "tests/models/support/small_machine.hpp"

namespace linebounce::test {
namespace {

MachineSpec small_groups(int buses, const std::vector<int>& members) {
  MachineSpec spec = small_nodes(1, buses);
  spec.buses_per_node = buses;
  for (const int count : members) {
    GroupSpec group;
    group.name = "L" + std::to_string(3 + spec.groups.size());
    group.protocol = "mesi_group";
    group.members = count;
    group.latency_ns = 10;
    group.link_ns = 5;
    group.cache_latency_ns = 30;
    spec.groups.push_back(group);
  }
  return spec;
}

// 2080 as ever; 2085 at the group, 2095 on to the home, 2225 its data, a pass and the way down 2240, a pass 2250 stamped, on an
// edge: 2260, 2310, 2320, 2325.
TEST(Groups, WhatTheGroupLacksIsFetchedFromTheHome) {
  SmallMachine small(small_groups(4, {2}));
  small.run({[](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { EXPECT_EQ(cpu.load(kLine), 0U); }), 326); }});
  EXPECT_EQ(small.misses().back().source, Source::local_memory);
}

// Two levels: twice the way and the pass, up and down.
TEST(Groups, EveryLevelCostsItsWayAndItsPass) {
  SmallMachine small(small_groups(4, {2, 2}));
  small.run({[](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.load(kLine); }), 356); }});
}

// CPUs 1 and 2 read: the first alone, the second what the first had. The group's cache serves the third reader: 2085, a pass
// and the look-up 2125, 2130 at the controller, 2140 stamped, on an edge: 2150, 2200, 2210, 2215.
TEST(Groups, AReaderHitsInTheSharedCache) {
  SmallMachine small(small_groups(4, {4}));
  small.run({[](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.load(kLine); }), 216); },
             [](Cpu& cpu) { cpu.load(kLine); },
             [](Cpu& cpu) {
               wait_until(cpu, 1000);
               cpu.load(kLine);
             }});
  EXPECT_EQ(small.misses().back().source, Source::node_cache);
}

// 2095 leaves for the owner, 2100; its recall stamped 2110, granted 2120, first data 2200, all of it 2240; a pass and the way
// from member to member 2255, stamped 2265, granted 2270, 2320, 2330, 2335.
TEST(Groups, ADirtyLineGoesFromMemberToMember) {
  SmallMachine small(small_groups(4, {2}));
  small.run({[](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { EXPECT_EQ(cpu.load(kLine), 77U); }), 336); },
             [](Cpu& cpu) { cpu.store(kLine, 77); }});
  EXPECT_EQ(small.misses().back().source, Source::local_c2c);
}

// The home sends the request to the other group, 2125; a pass and the way to the owner 2140, its recall stamped 2150, granted
// 2160, all of the data 2280; to its group 2295, a pass later at the other group 2305, a pass and the way down 2320, stamped
// 2330, on an edge: 2340, 2390, 2400, 2405.
TEST(Groups, ADirtyLineOfAnotherGroupComesThroughBoth) {
  SmallMachine small(small_groups(4, {2}));
  small.run({[](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { EXPECT_EQ(cpu.load(kLine), 77U); }), 406); }, [](Cpu&) {},
             [](Cpu& cpu) { cpu.store(kLine, 77); }});
}

// The same below a level that both share: the upper group sends the request on, 2100, 2110, so it is at the lower one at 2115
// instead of 2125; the data takes 5 more from group to group. Stamped 2325, granted 2330, 2380, 2390, 2395.
TEST(Groups, TwoGroupsOfOneGroupSettleItBelow) {
  SmallMachine small(small_groups(4, {2, 2}));
  small.run({[](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { EXPECT_EQ(cpu.load(kLine), 77U); }), 396); }, [](Cpu&) {},
             [](Cpu& cpu) { cpu.store(kLine, 77); }});
}

}  // namespace
}  // namespace linebounce::test
