// Tests what a miss costs on a machine with groups, stage by stage; latencies_test.cpp does so for machines without groups.
// From a member to its group's controller or back takes 5 ns, a pass through that controller 10, a look-up in its cache 30.
// Each bus has one CPU, and all buses are in one node.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/models/support/small_machine.hpp"

namespace linebounce::test {
namespace {

MachineSpec small_groups(int buses, const std::vector<int>& members, const std::string& protocol = "mesi_group") {
  MachineSpec spec = small_nodes(1, buses, protocol == "moesi_group" ? "moesi_node" : "mesi_node");
  spec.buses_per_node = buses;
  for (const int count : members) {
    GroupSpec group;
    group.name = "L" + std::to_string(3 + spec.groups.size());
    group.protocol = protocol;
    group.members = count;
    group.latency_ns = 10;
    group.link_ns = 5;
    group.cache_latency_ns = 30;
    spec.groups.push_back(group);
  }
  return spec;
}

// 2080  CPU 0's request leaves its bus;
// 2085  the way up later it is at the group;
// 2095  after the group's pass it is at the home;
// 2225  after a pass and the look-up (30) and memory's latency (100) the data leaves the home;
// 2240  after the group's pass and the way down it is at CPU 0's controller;
// 2250  after that one's pass the request is stamped, on an edge; granted 2260, snoop result 2310, pins 2320, done 2326.
TEST(Groups, ALineThatTheGroupLacksIsFetchedFromTheHome) {
  SmallMachine small(small_groups(4, {2}));
  small.run({[](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { EXPECT_EQ(cpu.load(kLine), 0U); }), 326); }});
  EXPECT_EQ(small.misses().back().source, Source::local_memory);
}

// A second level adds its way and its pass (15) twice, up and down.
TEST(Groups, EveryLevelCostsItsWayAndItsPass) {
  SmallMachine small(small_groups(4, {2, 2}));
  small.run({[](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.load(kLine); }), 356); }});
}

// CPU 1 reads the line alone; then CPU 2 shares it. CPU 0's request is at the group at 2085. After a pass and the look-up in
// the group's cache the data leaves at 2125; 2130 at CPU 0's controller; stamped 2140, on an edge; granted 2150; snoop result
// 2200; pins 2210; done 2216.
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

// CPU 1 is the other member of CPU 0's group, and its copy is dirty.
// 2095  after the group's pass CPU 0's request goes down to CPU 1;
// 2100  it is at CPU 1's controller; recall stamped 2110, granted 2120, data 2200 to 2240;
// 2250  after a pass the data leaves for CPU 0's controller;
// 2255  it is there; stamped 2265, granted 2270, snoop result 2320, pins 2330, done 2336.
TEST(Groups, ADirtyLineGoesFromMemberToMember) {
  SmallMachine small(small_groups(4, {2}));
  small.run({[](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { EXPECT_EQ(cpu.load(kLine), 77U); }), 336); },
             [](Cpu& cpu) { cpu.store(kLine, 77); }});
  EXPECT_EQ(small.misses().back().source, Source::local_c2c);
}

// The owner, CPU 2, is in the other group.
// 2095  CPU 0's request is at the home;
// 2125  after a pass and the look-up it is at the owner's group;
// 2140  after the group's pass and the way down it is at CPU 2's controller; recall stamped 2150, granted 2160, the last data
// there at 2280;
// 2295  after a pass and the way up the data is at the owner's group;
// 2305  after a pass it is at CPU 0's group;
// 2320  after a pass and the way down it is at CPU 0's controller; stamped 2330, on an edge; granted 2340, snoop result 2390,
// pins 2400, done 2406.
TEST(Groups, ADirtyLineOfAnotherGroupComesThroughBoth) {
  SmallMachine small(small_groups(4, {2}));
  small.run({[](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { EXPECT_EQ(cpu.load(kLine), 77U); }), 406); }, [](Cpu&) {},
             [](Cpu& cpu) { cpu.store(kLine, 77); }});
}

// Both groups are members of an upper group, which forwards the request to the owner's group without asking the home. The
// upper group has the request at 2100 and forwards it after a pass, so it is at the owner's group at 2115, 10 earlier than
// above. The data then takes 5 more from group to group. So CPU 0's request is stamped at 2325 instead of 2330: granted 2330,
// snoop result 2380, pins 2390, done 2396.
TEST(Groups, TwoGroupsOfOneGroupSettleItBelow) {
  SmallMachine small(small_groups(4, {2, 2}));
  small.run({[](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { EXPECT_EQ(cpu.load(kLine), 77U); }), 396); }, [](Cpu&) {},
             [](Cpu& cpu) { cpu.store(kLine, 77); }});
}

// Three groups: CPUs 0 and 1, CPUs 2 and 3, CPUs 4 and 5. CPU 1 writes. Then CPUs 0, 2 and 4 read, one after the other;
// `third_group` is what CPU 4's read costs.
void dirty_line_is_read_everywhere(SmallMachine& small, double third_group) {
  small.run({[](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { EXPECT_EQ(cpu.load(kLine), 77U); }), 336); },
             [](Cpu& cpu) { cpu.store(kLine, 77); },
             [](Cpu& cpu) {
               wait_until(cpu, 4000);
               EXPECT_EQ(cpu.load(kLine), 77U);
             },
             [](Cpu&) {},
             [=](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 6000, [&] { EXPECT_EQ(cpu.load(kLine), 77U); }), third_group); }});
}

// CPU 2's read updates memory, which then serves CPU 4: as in ALineThatTheGroupLacksIsFetchedFromTheHome.
TEST(Groups, OfMesiADirtyLineThatIsReadOutsideGoesHome) {
  SmallMachine small(small_groups(6, {2}));
  dirty_line_is_read_everywhere(small, 326);
  EXPECT_EQ(small.misses().back().source, Source::local_memory);
  EXPECT_EQ(small.in_memory(kLine), 77U);
}

// The owner's group answers CPU 4 from its cache, without a recall.
// 6095  CPU 4's request is at the home;
// 6125  after a pass and the look-up it is at the owner's group;
// 6165  after a pass and the look-up in the group's cache the data leaves;
// 6180  after a pass through CPU 4's group and the way down it is at CPU 4's controller;
// 6190  stamped, on an edge; granted 6200, snoop result 6250, pins 6260, done 6266.
TEST(Groups, OfMoesiADirtyLineThatIsReadStaysWithItsGroup) {
  SmallMachine small(small_groups(6, {2}, "moesi_group"));
  dirty_line_is_read_everywhere(small, 266);
  EXPECT_EQ(small.misses().back().source, Source::local_c2c);
  EXPECT_EQ(small.in_memory(kLine), 0U) << "memory stays old as long as the group answers";
}

// Returns how many of two passes over 64 lines miss. The CPU's own caches have room for all lines, the group's cache for 32.
std::size_t misses_of_two_passes(const std::string& protocol, int filter_entries) {
  MachineSpec spec = small_groups(2, {2}, protocol);
  spec.groups.front().size_kib = 1;
  spec.groups.front().ways = 2;
  spec.groups.front().filter_entries = filter_entries;
  spec.groups.front().filter_ways = 2;
  SmallMachine small(spec);
  small.run({[](Cpu& cpu) {
    for (int pass = 0; pass < 2; ++pass) {
      for (Address line = 0; line < 64; ++line) EXPECT_EQ(cpu.load(kLine + line * 32), 0U);
    }
  }});
  return small.misses().size();
}

TEST(Groups, ALineThatLeavesAnInclusiveCacheLeavesTheMembers) {
  EXPECT_EQ(misses_of_two_passes("mesi_group", 0), 128U);
}
TEST(Groups, ALineThatLeavesANonInclusiveCacheStaysInTheMembers) {
  EXPECT_EQ(misses_of_two_passes("mesi_group_non_inclusive", 0), 64U);
}
TEST(Groups, ALineThatLeavesAnExclusiveCacheStaysInTheMembers) {
  EXPECT_EQ(misses_of_two_passes("mesi_group_exclusive", 0), 64U);
}
TEST(Groups, ALineThatLeavesTheFilterLeavesTheMembers) {
  EXPECT_EQ(misses_of_two_passes("mesi_group_non_inclusive", 32), 128U);
}
TEST(Groups, AFilterWithRoomForAllLinesRecallsNone) {
  EXPECT_EQ(misses_of_two_passes("mesi_group_exclusive", 64), 64U);
}

// Two members and another group contend for one line, whose set in the group's cache has two ways; kNeighbour is in the same
// set. If the line leaves and comes back while requests for it wait, it must not get a second way, which would evict
// kNeighbour.
TEST(Groups, ALineThatLeavesAndComesBackAtOnceHasOnePlace) {
  MachineSpec spec = small_groups(4, {2});
  spec.groups.front().size_kib = 1;
  spec.groups.front().ways = 2;
  constexpr Address kNeighbour = kLine + 16 * 32;
  const auto fight = [](Cpu& cpu) {
    for (int i = 0; i < 100; ++i) cpu.fetch_add(kLine, 1);
  };
  SmallMachine small(spec);
  small.run({fight, [](Cpu&) {}, fight,
             [&](Cpu& cpu) {
               cpu.load(kNeighbour);
               fight(cpu);
               cpu.load(kNeighbour);
             }});
  const auto& misses = small.misses();
  EXPECT_EQ(std::count_if(misses.begin(), misses.end(), [](const Miss& miss) { return miss.address == kNeighbour; }), 1);
}

// CPU 0 reads 64 lines, of which its own cache keeps 32. The first 32 are clean victims. Returns how many of them CPU 1 finds
// in the group's cache.
std::size_t found_in_shared_cache(const std::string& protocol) {
  MachineSpec spec = small_groups(2, {2}, protocol);
  spec.node.cache_size_kib = 1;
  spec.node.cache_ways = 2;
  SmallMachine small(spec);
  small.run({[](Cpu& cpu) {
               for (Address line = 0; line < 64; ++line) cpu.load(kLine + line * 32);
             },
             [](Cpu& cpu) {
               wait_until(cpu, 100000);
               for (Address line = 0; line < 32; ++line) EXPECT_EQ(cpu.load(kLine + line * 32), 0U);
             }});
  const auto& misses = small.misses();
  return static_cast<std::size_t>(
      std::count_if(misses.end() - 32, misses.end(), [](const Miss& miss) { return miss.source == Source::node_cache; }));
}

TEST(Groups, AnUnwrittenVictimIsFoundInANonInclusiveCache) {
  EXPECT_EQ(found_in_shared_cache("mesi_group_non_inclusive"), 32U);
}
TEST(Groups, AnUnwrittenVictimIsFoundInAnExclusiveCache) {
  EXPECT_EQ(found_in_shared_cache("mesi_group_exclusive"), 32U);
}

}  // namespace
}  // namespace linebounce::test
