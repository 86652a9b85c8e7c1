// Tests what a miss costs on a machine with groups, stage by stage; latencies_test.cpp does so for machines without them. The
// way from a member to the group's controller takes 5 ns, a pass through that controller 10, the first data of its cache 30
// more. Each bus has one CPU, and all are in one node.
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

// 2080 the request leaves, as always; 2085 it is at the group; 2095 it leaves for the home; 2225 the home's data leaves; 2240
// it has passed the group and the way down; 2250 a pass later it is stamped, on an edge; 2260 granted; 2310 snoop result;
// 2320 at the pins; 2325 the load starts.
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

// CPUs 1 and 2 read first: CPU 1 alone, then CPU 2 what CPU 1 had. The group's cache serves the third reader: the request is
// at the group at 2085; after a pass and the look-up the data leaves at 2125, and is at the controller at 2130; 2140 stamped,
// on an edge; 2150 granted; 2200, 2210, 2215.
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

// The request leaves the group for the owner at 2095, and arrives at 2100. The recall is stamped at 2110, granted at 2120;
// its first data comes at 2200, all of it at 2240. A pass and the way from member to member end at 2255: stamped 2265,
// granted 2270, 2320, 2330, 2335.
TEST(Groups, ADirtyLineGoesFromMemberToMember) {
  SmallMachine small(small_groups(4, {2}));
  small.run({[](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { EXPECT_EQ(cpu.load(kLine), 77U); }), 336); },
             [](Cpu& cpu) { cpu.store(kLine, 77); }});
  EXPECT_EQ(small.misses().back().source, Source::local_c2c);
}

// The home sends the request to the other group, where it is at 2125. A pass and the way to the owner end at 2140: the recall
// is stamped at 2150, granted at 2160, and all of its data there at 2280. The data is at the owner's group at 2295, a pass
// later at the other group, 2305; a pass and the way down end at 2320: stamped 2330, on an edge; 2340, 2390, 2400, 2405.
TEST(Groups, ADirtyLineOfAnotherGroupComesThroughBoth) {
  SmallMachine small(small_groups(4, {2}));
  small.run({[](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { EXPECT_EQ(cpu.load(kLine), 77U); }), 406); }, [](Cpu&) {},
             [](Cpu& cpu) { cpu.store(kLine, 77); }});
}

// The same below a level that both groups share. The upper group gets the request at 2100 and sends it on at 2110, so it is
// at the lower one at 2115 instead of 2125. The data takes 5 more from group to group: stamped 2325, granted 2330, 2380,
// 2390, 2395.
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

// The owner's group answers the third reader from its cache, without a recall. The request is at the home at 6095, which
// sends it on; 6125 at the group; 6165 after a pass and the look-up; 6180 after a pass and the way down; 6190 after a pass,
// on an edge; 6200 granted, 6250, 6260, 6265.
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
