// What a miss costs on a machine with nodes, stage by stage. small_nodes() has one CPU on each bus. A load of CPU 0 at 2000
// that misses everywhere:
//   2070    snoop result on its own bus (small_machine.hpp); the controller defers the request, to ask the home;
//   2080    a pass (10) later the request leaves for the home; 50 later it is there, or at once if the home is on this node;
//   + 30    a pass and the look-up in the directory (20); + 100 for memory's first data;
//   ...     the answer arrives, after 50 over a link or at once; a pass (10) later the request is stamped again for the bus;
//   E       granted at the next edge after the stamp; + 50 snoop result, and the data goes on the bus at once;
//   + 10    at the pins; + 5 the load starts; + 1 it is done.
#include <gtest/gtest.h>

#include <array>

#include "tests/models/support/small_machine.hpp"
#include "tests/support/expect_reached.hpp"

namespace linebounce::test {
namespace {

constexpr Address kThere = kLine + 0x10000;  // on another page, which can have another home

void home(SmallMachine& small, int node) {
  small.machine.homes().place(kLine, Home::on(node));
}

TEST(NodeMachine, AMissToLocalMemoryCrossesNoLink) {
  SmallMachine small(small_nodes(2, 2));
  home(small, 0);
  // Memory's data leaves the home at 2080 + 30 + 100 = 2210. Stamped 2220, on an edge; granted 2230; snoop result 2280; pins
  // 2290; done 2296.
  small.run({[](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { EXPECT_EQ(cpu.load(kLine), 0U); }), 296); }});
  ASSERT_EQ(small.misses().size(), 1U);
  EXPECT_EQ(small.misses()[0].source, Source::local_memory);
}

TEST(NodeMachine, RemoteMemoryCostsTwoLinksMore) {
  SmallMachine small(small_nodes(2, 2));
  home(small, 1);
  small.run({[](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.load(kLine); }), 296 + 2 * 50); }});
  EXPECT_EQ(small.misses().back().source, Source::remote_memory);
}

// 2130 the request is at the home, and 2160 at the owner, on the same node. The recall is stamped there at 2170: granted
// 2180, snoop result 2230, data 2260 to 2300. A pass and a link later, 2360, the data is at CPU 0's controller: stamped 2370,
// granted 2380, snoop result 2430, pins 2440, done 2446.
TEST(NodeMachine, ADirtyLineOfAnotherNodeComesFromItsCache) {
  SmallMachine small(small_nodes(2, 2));
  home(small, 1);
  small.run({[](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { EXPECT_EQ(cpu.load(kLine), 77U); }), 446); },
             [](Cpu& cpu) { cpu.store(kLine, 77); }});
  EXPECT_EQ(small.misses().back().source, Source::remote_c2c);
}

TEST(NodeMachine, AHomeOnAThirdNodeCostsOneLinkMore) {
  SmallMachine small(small_nodes(3, 3));
  home(small, 2);
  small.run({[](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { EXPECT_EQ(cpu.load(kLine), 77U); }), 446 + 50); },
             [](Cpu& cpu) { cpu.store(kLine, 77); }});
}

// A line takes 400 ns to leave a node, one line at a time. The owner's line leaves node 1 from 2310 to 2710. Both the reader
// and the home are on node 0, so it crosses once. CPU 0's next line is ready to leave node 1 at 2860. If the first line
// crossed twice, until 3110, the next one would have to wait.
TEST(NodeMachine, ALineForAReaderAndItsHomeOnOneNodeCrossesOnce) {
  MachineSpec spec = small_nodes(2, 2);
  spec.node.line_crossing_ns = 400;
  SmallMachine small(spec);
  home(small, 0);
  small.machine.homes().place(kThere, Home::on(1));
  small.run({[](Cpu& cpu) {
               EXPECT_EQ(cycles_from(cpu, 2000, [&] { EXPECT_EQ(cpu.load(kLine), 77U); }), 446);
               EXPECT_EQ(cycles_from(cpu, 2600, [&] { cpu.load(kThere); }), 296 + 2 * 50);
             },
             [](Cpu& cpu) { cpu.store(kLine, 77); }});
}

// The first line is ready to leave node 1 at 2260, the second at 2280. It leaves when the first has crossed, at 2660, and so
// arrives 400 after it.
TEST(NodeMachine, ALineWaitsUntilTheLineBeforeHasLeftTheNode) {
  MachineSpec spec = small_nodes(2, 2);
  spec.node.line_crossing_ns = 400;
  SmallMachine small(spec);
  home(small, 1);
  small.run({[](Cpu& cpu) {
    std::array<Value, 2> values{};
    EXPECT_EQ(cycles_from(cpu, 2000,
                          [&] {
                            cpu.load_all(std::array<Cpu::Word, 2>{{{kLine}, {kLine + 0x100}}}, values);
                          }),
              296 + 2 * 50 + 400);
  }});
}

// CPUs 0 and 1 request one line, and both requests are at the home, on node 2, at 2130. Returns the cost of CPU 1's.
double second_of_two_requests(const MachineSpec& spec) {
  SmallMachine small(spec);
  home(small, 2);
  double second = 0;
  small.run({[&](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.load(kLine); }), 296 + 2 * spec.network.latency_ns); },
             [&](Cpu& cpu) { second = cycles_from(cpu, 2000, [&] { cpu.load(kLine); }); }});
  return second;
}

// The home handles the second request 400 later. Then CPU 0 has the line, so it costs as much as a line from another node
// with the home on a third: 446 + 50. But CPU 0's copy is not modified, so its recall ends with the response, at 2240 in the
// time of that test, not with the last data at 2300.
constexpr double kSecondTurn = 400 + 446 + 50 - 60;

TEST(NodeMachine, AHomeTakesRequestsForOneLineInTurns) {
  MachineSpec spec = small_nodes(3, 3);
  spec.directory.line_busy_ns = 400;
  EXPECT_EQ(second_of_two_requests(spec), kSecondTurn);
}

// With links of 150, a transfer between two other nodes takes 400: 2 * 150 for the links, 10 for the owner's controller, 50
// until the snoop result on the owner's bus, 30 for the intervention and 10 for the controller again. These 400 are the
// home's turn, as above. The second request crosses three links, each 100 longer than above.
TEST(NodeMachine, AHomesTurnsMayBeAsLongAsATransfer) {
  MachineSpec spec = small_nodes(3, 3);
  spec.network.latency_ns = 150;
  spec.directory.line_busy_ns = kDerived;
  EXPECT_EQ(second_of_two_requests(spec), kSecondTurn + 3 * 100);
}

TEST(NodeMachine, AHomesTurnsMayBeItsOwn) {
  MachineSpec spec = small_nodes(3, 3);
  spec.memory_of_node.push_back({.name = "2", .directory_line_busy_ns = 400});
  EXPECT_EQ(second_of_two_requests(spec), kSecondTurn);
}

// Node 2 is a memory device. The look-up in its directory takes 20 longer, its memory 70 longer.
TEST(NodeMachine, ANodesMemoryAndDirectoryMayBeItsOwn) {
  MachineSpec spec = small_nodes(3, 2);
  spec.cpu_nodes = "0 1";
  spec.memory_of_node.push_back({.name = "2", .latency_ns = 170, .directory_latency_ns = 40});
  SmallMachine small(spec);
  home(small, 2);
  small.run({[](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.load(kLine); }), 296 + 2 * 50 + 20 + 70); }});
}

// Messages between this pair of nodes take 30 more in one direction, 50 more in the other.
TEST(NodeMachine, APairOfNodesPaysWhatItCosts) {
  MachineSpec spec = small_nodes(2, 2);
  spec.network.pairs.push_back({.name = "0_1", .latency_ns = 30, .back_latency_ns = 50});
  SmallMachine small(spec);
  home(small, 1);
  small.run({[](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.load(kLine); }), 296 + 2 * 50 + 30 + 50); }});
}

// Two loads of lines whose home is node 1. Their address phases are two clocks apart, so their requests are ready for the
// link at 2080 and 2100.
void two_loads_over_a_link(int credits, double taken) {
  MachineSpec spec = small_nodes(2, 2);
  spec.network.credits = credits;
  SmallMachine small(spec);
  home(small, 1);
  small.machine.homes().place(kThere, Home::on(1));
  small.run({[&](Cpu& cpu) {
    std::array<Value, 2> values{};
    EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.load_all(std::array<Cpu::Word, 2>{{{kLine}, {kThere}}}, values); }), taken);
  }});
}

// The second request is 20 behind the first. Its line then waits 20 for the data bus.
TEST(NodeMachine, ALinkWithRoomForBothDelaysNeither) {
  two_loads_over_a_link(2, 296 + 2 * 50 + 20 + 20);
}

// The link has room for one message. The first request leaves its place at node 1 at 2130. The sender learns this at 2180, 80
// after the second request was ready. Then the second line finds the data bus free.
TEST(NodeMachine, ALinkWithoutRoomKeepsAMessageUntilThereIsSomeAgain) {
  const ExpectReached mark{"message_waits_for_a_credit"};
  two_loads_over_a_link(1, 296 + 2 * 50 + 20 + 80);
}

struct Crossing {
  const char* name;
  int home;
  bool dirty;  // in CPU 1's cache
  int links;   // links crossed
};

class Crossings : public ::testing::TestWithParam<std::tuple<Crossing, const char*>> {};

// The cost of a miss on a machine whose links take `link_ns`.
double cost(const Crossing& crossing, const std::string& protocol, double link_ns) {
  MachineSpec spec = small_nodes(3, 3, protocol);
  spec.network.latency_ns = link_ns;
  SmallMachine small(spec);
  home(small, crossing.home);
  decltype(cycles_from(std::declval<Cpu&>(), 0, [] {})) cycles = 0;
  small.run({[&](Cpu& cpu) { cycles = cycles_from(cpu, 4000, [&] { cpu.load(kLine); }); },
             [&](Cpu& cpu) {
               if (crossing.dirty) cpu.store(kLine, 1);
             }});
  return cycles;
}

// Without links a miss costs 296 from memory and 346 from another node's cache. A process can run only one simulation, so a
// test for each link latency would need a process of its own.
TEST_P(Crossings, EveryLinkCostsItsLatencyExactly) {
  const auto& [crossing, protocol] = GetParam();
  const double at_zero = crossing.dirty ? 346 : 296;
  EXPECT_EQ(cost(crossing, protocol, 70), at_zero + crossing.links * 70);
}

INSTANTIATE_TEST_SUITE_P(
    All, Crossings,
    ::testing::Combine(::testing::Values(Crossing{"OwnMemory", 0, false, 0}, Crossing{"RemoteMemory", 1, false, 2},
                                         Crossing{"RemoteCacheHomeHere", 0, true, 2},
                                         Crossing{"RemoteCacheHomeThere", 1, true, 2},
                                         Crossing{"RemoteCacheHomeElsewhere", 2, true, 3}),
                       ::testing::Values("mesi_node", "mesi_node_tags")),
    [](const auto& test) { return std::string(std::get<0>(test.param).name) + "_" + std::get<1>(test.param); });

// CPU 1 has loaded the line, so it is in the cache of the node's controller. That look-up takes 30 from the address phase at
// 2030, so it is over before the snoop result at 2070. Pins 2080, done 2086.
TEST(NodeMachine, ALineInTheControllersCacheIsNearerThanMemory) {
  MachineSpec spec = small_nodes(1, 2);
  SmallMachine small(spec);
  small.run({[](Cpu& cpu) {
               wait_until(cpu, 1000);
               EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.load(kLine); }), 86) << "2070 at the bus, 2080 at the pins, 2085";
             },
             [](Cpu& cpu) { cpu.load(kLine); }});
  EXPECT_EQ(small.misses().back().source, Source::node_cache);
}

// mesi_node_tags: the controller keeps no data. A line that no cache supplies is fetched from the home again.
TEST(NodeMachine, AControllerWithoutDataFetchesACleanLineAgain) {
  MachineSpec spec = small_nodes(1, 2, "mesi_node_tags");
  SmallMachine small(spec);
  small.run(
      {[](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.load(kLine); }), 296); }, [](Cpu& cpu) { cpu.load(kLine); }});
  EXPECT_EQ(small.misses().back().source, Source::local_memory);
}

TEST(NodeMachine, ALineDirtyInTheNodeIsServedThereWhereverItsHomeIs) {
  SmallMachine small(small_nodes(2, 4));  // CPUs 0 and 2 on node 0
  home(small, 1);
  small.run({[](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 4000, [&] { EXPECT_EQ(cpu.load(kLine), 5U); }), 116); },
             {},
             [](Cpu& cpu) { cpu.store(kLine, 5); }});
  EXPECT_EQ(small.misses().back().source, Source::local_c2c);
}

// Two sharers on other nodes send their acknowledgements to the requestor, not to the home.
TEST(NodeMachine, AWriterWaitsForAllAcknowledgements) {
  SmallMachine small(small_nodes(3, 3));
  home(small, 0);
  small.run({[](Cpu& cpu) {
               cpu.load(kLine);
               // Stamped 4002, because L1 has the line; granted 4010; snoop result 4060. A pass later, 4070, the request is
               // at the home; after a pass and the look-up, 4100, the Inv leaves; 4150 it is at each sharer. The recall there
               // is stamped at 4160: granted 4170, snoop result 4220, response without data 4230. A pass and a link later,
               // 4290, the acknowledgement is at the requestor: stamped 4300, granted 4310, snoop result 4360, response 4370,
               // done 4376.
               EXPECT_EQ(cycles_from(cpu, 4000, [&] { cpu.store(kLine, 3); }), 376);
             },
             [](Cpu& cpu) {
               cpu.load(kLine);
               wait_until(cpu, 6000);
               EXPECT_EQ(cpu.load(kLine), 3U);
             },
             [](Cpu& cpu) { cpu.load(kLine); }});
  EXPECT_EQ(small.in_memory(kLine), 3U) << "the later reader has made the owner write home";
}

TEST(NodeMachine, ANodeWithoutMemoryLeavesItsLinesToTheNextOne) {
  MachineSpec spec = small_nodes(2, 2);
  spec.memory.nodes = "1";
  SmallMachine small(spec);
  small.run({[](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.load(kThere); }), 396); }});
  EXPECT_EQ(small.misses().back().source, Source::remote_memory);
}

TEST(NodeMachine, ANodeWithoutCpusIsMemoryOnly) {
  MachineSpec spec = small_nodes(2, 2);
  spec.cpu_nodes = "0";
  SmallMachine small(spec);
  home(small, 1);
  small.run({[](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.load(kLine); }), 396); }});
}

TEST(NodeMachine, FirstTouchPutsAPageWhereItIsFirstMissed) {
  MachineSpec spec = small_nodes(2, 2);
  spec.memory.placement = Placement::first_touch;
  SmallMachine small(spec);
  small.run({{}, [](Cpu& cpu) { cpu.load(kThere); }});
  EXPECT_EQ(small.machine.homes().peek(small.machine.store().line_of(kThere + 64)), 1);
}

}  // namespace
}  // namespace linebounce::test
