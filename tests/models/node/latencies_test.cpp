// What a miss costs on a machine with nodes, stage by stage. small_nodes() has one CPU a bus. A load of CPU 0 at 2000 that
// misses everywhere:
//   2070  snoop result on its own bus (small_machine.hpp): the controller puts the request off and asks the home
//   2080  a pass later the request leaves; over a link it needs 50 more
//   + 30  a pass and the look-up in the directory; + 100 for memory's first data
//   ...   the answer arrives, over a link 50 later; a pass later, 10, it is stamped for the bus
//   E     the next edge; + 50 snoop result, at which the data goes on the bus; + 10 at the pins; + 5 the load starts; + 1 it is
//   over
#include <gtest/gtest.h>

#include <array>

#include "tests/models/support/small_machine.hpp"
#include "tests/support/expect_reached.hpp"

namespace linebounce::test {
namespace {

constexpr Address kThere = kLine + 0x10000;  // on another page, so that it can have another home

void home(SmallMachine& small, int node) {
  small.machine.homes().place(kLine, Home::on(node));
}

TEST(NodeMachine, LocalMemory) {
  SmallMachine small(small_nodes(2, 2));
  home(small, 0);
  // The home's data leaves at 2080 + 30 + 100 = 2210. It is stamped at 2220, on an edge: 2230, 2280, 2290, 2295.
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

// The request is at the home at 2130, and leaves 30 later. It is at the owner at 2160: the recall is stamped 2170, granted
// 2180, snoop result 2230, first data 2260, all of it 2300. A pass and a link later, at 2360, the data is at CPU 0's
// controller: stamped 2370, granted 2380, snoop result 2430, then as above.
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

// The owner's line goes to the reader and to its home, both on node 0. It leaves at 2310 and occupies the stage until 2710; the
// next line is ready to leave node 1 at 2860. If the first crossed twice, it would be in the way until 3110.
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

// Two requests for one line reach its home at 2130; returns the cost of the second.
double second_of_two_requests(const MachineSpec& spec) {
  SmallMachine small(spec);
  home(small, 2);
  double second = 0;
  small.run({[&](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.load(kLine); }), 296 + 2 * spec.network.latency_ns); },
             [&](Cpu& cpu) { second = cycles_from(cpu, 2000, [&] { cpu.load(kLine); }); }});
  return second;
}

// The second request's turn is 400 later, when the first has long had its data. It costs as much as a line from another node
// with its home on a third, 446 + 50. But the owner's copy is unmodified, so the recall ends with a response at 2240 instead
// of the last data at 2300.
constexpr double kSecondTurn = 400 + 446 + 50 - 60;

TEST(NodeMachine, AHomeTakesRequestsForOneLineInTurns) {
  MachineSpec spec = small_nodes(3, 3);
  spec.directory.line_busy_ns = 400;
  EXPECT_EQ(second_of_two_requests(spec), kSecondTurn);
}

// A transfer between two other nodes: 2 * 150 for the links, 10 for the owner's controller, 50 to its bus's snoop result, 30
// for the intervention, and 10 for the controller again: 400. Each of the second's three links is 100 longer than with the turn
// of 400 above.
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

// A memory device: its directory's look-up takes 40 instead of 20, its memory 170 instead of 100.
TEST(NodeMachine, ANodesMemoryAndDirectoryMayBeItsOwn) {
  MachineSpec spec = small_nodes(3, 2);
  spec.cpu_nodes = "0 1";
  spec.memory_of_node.push_back({.name = "2", .latency_ns = 170, .directory_latency_ns = 40});
  SmallMachine small(spec);
  home(small, 2);
  small.run({[](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.load(kLine); }), 296 + 2 * 50 + 20 + 70); }});
}

// The additional cost of a pair of nodes, which may differ by direction.
TEST(NodeMachine, APairOfNodesPaysWhatItCosts) {
  MachineSpec spec = small_nodes(2, 2);
  spec.network.pairs.push_back({.name = "0_1", .latency_ns = 30, .back_latency_ns = 50});
  SmallMachine small(spec);
  home(small, 1);
  small.run({[](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.load(kLine); }), 296 + 2 * 50 + 30 + 50); }});
}

// Two loads of lines of node 1, issued two clocks apart on the bus. Their requests are ready for the link at 2080 and 2100.
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

// The second line, 20 behind the first, waits 20 for the data bus.
TEST(NodeMachine, ALinkWithRoomForBothDelaysNeither) {
  two_loads_over_a_link(2, 296 + 2 * 50 + 20 + 20);
}

// The first request frees its slot at node 1 when it is handled, at 2130; the link learns that at 2180. The second line then
// comes so late that the data bus is free.
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

// The cost of a remote miss with this link latency.
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

// A process can run one simulation only, so each latency is a separate test, compared with the formula for 0.
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

// The other CPU of the node hits in the controller's cache. The look-up takes 30 from the address phase on, so it is done by
// the snoop result at 2070.
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

// A controller without data fetches again from the home what no cache supplies.
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
               // L1 has the line: stamped 4002, granted 4010, snoop result 4060. The request is at the home at 4070, looked
               // up at 4100. The Inv is over a link at 4150; its recall is stamped 4160, granted 4170, snoop result 4220, and
               // without data ends with a response at 4230. A pass and a link later, at 4290, the answer is at the requestor:
               // stamped 4300, granted 4310, snoop result 4360, an upgrade's response 4370, 4375.
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
