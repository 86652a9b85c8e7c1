// The cost of a miss on a machine with groups, stage by stage, as in latencies_test.cpp without them: the way from a member to
// the group's controller takes 5 ns, a pass there 10, its cache's first data 30 more. One CPU on each bus, all in one node.
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

// 2080 as always; 2085 at the group, 2095 to the home, 2225 its data, a pass and the way down 2240, a pass 2250, stamped on an
// edge, 2260, 2310, 2320, 2325.
TEST(Groups, ALineThatTheGroupLacksIsFetchedFromTheHome) {
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

// CPUs 0 and 1 are members of one group, 2 and 3 of another, 4 and 5 of a third. CPU 1 writes, and they read one after the
// other.
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

// The second read updates memory, which serves the third reader: see ALineThatTheGroupLacksIsFetchedFromTheHome.
TEST(Groups, OfMesiADirtyLineThatIsReadOutsideGoesHome) {
  SmallMachine small(small_groups(6, {2}));
  dirty_line_is_read_everywhere(small, 326);
  EXPECT_EQ(small.misses().back().source, Source::local_memory);
  EXPECT_EQ(small.in_memory(kLine), 77U);
}

// The owner's group answers the third from its cache, without a recall: the request is at the home at 6095, which sends it on,
// 6125; a pass and the look-up 6165, a pass and the way down 6180, a pass 6190, on an edge: 6200, 6250, 6260, 6265.
TEST(Groups, OfMoesiADirtyLineThatIsReadStaysWithItsGroup) {
  SmallMachine small(small_groups(6, {2}, "moesi_group"));
  dirty_line_is_read_everywhere(small, 266);
  EXPECT_EQ(small.misses().back().source, Source::local_c2c);
  EXPECT_EQ(small.in_memory(kLine), 0U) << "memory stays old as long as the group answers";
}

// The number of misses when one CPU reads 64 lines twice. Its own caches have room for all, the group's cache for 32.
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

// Two members and another group contend for one line; its neighbour in a set of two ways is read before and after. Requests
// wait at the group while the line leaves and comes back: it must not get a second way then.
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

// The member has room for 32 of 64 lines: the others moved to the group's cache, although they are clean, and another member
// finds them there.
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
