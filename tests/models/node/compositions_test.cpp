// Tests pairs of a node's and a directory's protocol: the times, the bytes on the links and the value in memory that each
// causes. The machine is small_nodes() of small_machine.hpp; latencies_test.cpp has the stages of a miss. A message takes 16
// bytes on a link, one with a line of data 48.
#include <gmock/gmock.h>

#include <array>

#include "tests/models/support/small_machine.hpp"
#include "tests/support/expect_reached.hpp"

namespace linebounce::test {
namespace {

constexpr std::int64_t kRequest = 16, kWithLine = 48;

// A machine with one CPU on each node; the line's home is the last node.
class Composed {
 public:
  Composed(const std::string& protocol, int nodes) : small(small_nodes(nodes, nodes, protocol)) {
    small.machine.homes().place(kLine, Home::on(nodes - 1));
  }

  // The bytes that crossed the link between two nodes.
  [[nodiscard]] std::int64_t bytes(int from, int to) const {
    for (const LinkStatistics& link : small.machine.network()->links(small.machine.finished_at())) {
      if (link.from == from && link.to == to) return link.bytes;
    }
    return -1;
  }

  SmallMachine small;
};

// CPU 1 writes, CPU 0 reads, the home is node 2. AHomeOnAThirdNodeCostsOneLinkMore (latencies_test.cpp) explains the 496
// cycles. In MESI the owner sends the line to the reader and to the home.
void dirty_line_is_read(Composed& machine) {
  machine.small.run({[](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { EXPECT_EQ(cpu.load(kLine), 77U); }), 496); },
                     [](Cpu& cpu) { cpu.store(kLine, 77); }});
  EXPECT_EQ(machine.small.misses().back().source, Source::remote_c2c);
}

TEST(Mesi, ADirtyLineThatIsReadGoesHomeToo) {
  Composed machine("mesi_node", 3);
  dirty_line_is_read(machine);
  EXPECT_EQ(machine.small.in_memory(kLine), 77U);
  EXPECT_EQ(machine.bytes(1, 2), kRequest + kWithLine) << "GetM, and the line for memory";
}

TEST(Moesi, ADirtyLineThatIsReadStaysWithItsOwner) {
  Composed machine("moesi_node", 3);
  dirty_line_is_read(machine);
  EXPECT_EQ(machine.small.in_memory(kLine), 0U) << "memory is old as long as the owner keeps the line";
  EXPECT_EQ(machine.bytes(1, 2), kRequest) << "GetM, and nothing else";
  EXPECT_EQ(machine.bytes(1, 0), kWithLine);
}

// CPU 0's read has left the line in the cache of the owner's controller, so CPU 2's needs no recall on the owner's bus. 4130
// the request is at the home; 4160 the home forwards it; 4210 it is at the owner's controller. The line leaves a pass later,
// and is at CPU 2's controller at 4270: stamped 4280, granted 4290, snoop result 4340, pins 4350, done 4356.
TEST(Moesi, AnOwnersControllerAnswersFurtherReadersWithoutItsBus) {
  Composed machine("moesi_node", 4);
  machine.small.run({[](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { EXPECT_EQ(cpu.load(kLine), 77U); }), 496); },
                     [](Cpu& cpu) { cpu.store(kLine, 77); },
                     [](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 4000, [&] { EXPECT_EQ(cpu.load(kLine), 77U); }), 356); }});
  EXPECT_EQ(machine.small.misses().back().source, Source::remote_c2c);
  EXPECT_EQ(machine.small.in_memory(kLine), 0U);
  EXPECT_EQ(machine.bytes(1, 3), kRequest) << "the owner has told its home nothing since its GetM";
}

// CPU 0's node is the owner as soon as the home has its request, but memory's data comes 3000 later. In the meantime the home
// forwards two readers' requests to it, and the second waits behind the first.
TEST(Moesi, ASecondReaderWaitsBehindTheFirstAtAnOwnerWithoutData) {
  const ExpectReached mark{"forward_behind_a_stalled_one"};
  MachineSpec spec = small_nodes(3, 3, "moesi_node");
  spec.memory.latency_ns = 3000;
  SmallMachine small(spec);
  const auto reads_at = [](double ns) {
    return [ns](Cpu& cpu) {
      wait_until(cpu, ns);
      EXPECT_EQ(cpu.load(kLine), 7U);
    };
  };
  small.run({[](Cpu& cpu) {
               wait_until(cpu, 2000);
               cpu.store(kLine, 7);
             },
             reads_at(2500), reads_at(2700)});
}

// The set of the controller's cache has two ways, and both wait for their lines' data. The third line gets no way, but its
// data reaches the CPU.
TEST(NodeCache, ALineWithoutAPlaceIsFetchedAndUsed) {
  const ExpectReached mark{"no_line_can_leave"};
  MachineSpec spec = small_nodes(2, 2);
  spec.node.cache_size_kib = 1;
  spec.node.cache_ways = 2;
  SmallMachine small(spec);
  small.run({[](Cpu& cpu) {
               const std::array<Cpu::Word, 3> words{{{kLine}, {kLine + 512}, {kLine + 1024}}};
               std::array<Value, 3> values{};
               cpu.load_all(words, values);
               for (const Cpu::Word word : words) EXPECT_EQ(cpu.load(word.address), 0U);
             },
             [](Cpu&) {}});
}

TEST(Moesi, MemoryIsWrittenWhenTheOwnerGivesTheLineUp) {
  MachineSpec spec = small_nodes(2, 2, "moesi_node");
  spec.node.cache_size_kib = 1;
  spec.node.cache_ways = 2;
  SmallMachine small(spec);
  small.machine.homes().place(kLine, Home::on(1));
  small.run({[](Cpu& cpu) {
               wait_until(cpu, 2000);
               EXPECT_EQ(cpu.load(kLine), 77U);
               wait_until(cpu, 20000);
               EXPECT_EQ(cpu.load(kLine), 77U) << "the reader keeps its copy";
             },
             [](Cpu& cpu) {
               cpu.store(kLine, 77);
               wait_until(cpu, 4000);
               for (Address other = 1; other <= 3; ++other) cpu.load(kLine + other * kSetStride);
             }});
  EXPECT_EQ(small.in_memory(kLine), 77U);
}

// In MESI the third reader of a clean line gets it from memory. Two links cost 50 each, and the home's answer carries the
// line.
TEST(Mesi, ASharedLineComesFromMemory) {
  Composed machine("mesi_node", 4);
  machine.small.run({[](Cpu& cpu) { cpu.load(kLine); },
                     [](Cpu& cpu) {
                       wait_until(cpu, 2000);
                       cpu.load(kLine);
                     },
                     [](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 4000, [&] { cpu.load(kLine); }), 296 + 2 * 50); }});
  EXPECT_EQ(machine.small.misses().back().source, Source::remote_memory);
  EXPECT_EQ(machine.bytes(3, 2), kWithLine);
}

// In MESIF the third reader gets the line from the second. The request takes one link more than above, and memory's 100 are
// saved: as in AnOwnersControllerAnswersFurtherReadersWithoutItsBus.
TEST(Mesif, ASharedLineComesFromTheNodeThatHasReadItLast) {
  Composed machine("mesif_node", 4);
  machine.small.run({[](Cpu& cpu) { cpu.load(kLine); },
                     [](Cpu& cpu) {
                       wait_until(cpu, 2000);
                       cpu.load(kLine);
                     },
                     [](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 4000, [&] { cpu.load(kLine); }), 356); }});
  EXPECT_EQ(machine.small.misses().back().source, Source::remote_c2c);
  EXPECT_EQ(machine.bytes(3, 2), 0) << "the home sends the reader nothing";
  EXPECT_EQ(machine.bytes(3, 1), kRequest) << "it has asked node 1, the last reader before";
  EXPECT_EQ(machine.bytes(1, 2), kWithLine);
  EXPECT_EQ(machine.bytes(1, 3), kRequest) << "GetS: memory is right, and gets nothing";
}

// In MESIF the first read of a dirty line updates memory, as in MESI.
TEST(Mesif, ADirtyLineThatIsReadGoesHomeToo) {
  Composed machine("mesif_node", 3);
  dirty_line_is_read(machine);
  EXPECT_EQ(machine.small.in_memory(kLine), 77U);
}

// Without a directory the home probes every node, and every node answers the requestor. CPU 0 reads a line that only memory
// has. It sends GetS and Done. The home, node 3, sends it the line and its own node's answer, and a probe each to nodes 1 and
// 2, which both answer CPU 0.
TEST(Broadcast, AMissAsksEveryNodeEvenIfNoneHasTheLine) {
  Composed machine("moesi_broadcast_node", 4);
  machine.small.run({[](Cpu& cpu) { cpu.load(kLine); }});
  EXPECT_EQ(machine.small.misses().back().source, Source::remote_memory);
  EXPECT_EQ(machine.bytes(0, 3), 2 * kRequest) << "GetS, Done";
  EXPECT_EQ(machine.bytes(3, 0), kWithLine + kRequest) << "the line, and the answer of the home's own node";
  for (const int other : {1, 2}) {
    EXPECT_EQ(machine.bytes(3, other), kRequest) << "a probe";
    EXPECT_EQ(machine.bytes(other, 0), kRequest) << "an answer";
    EXPECT_EQ(machine.bytes(other, 3), 0);
  }
}

// The directory knows that no node has the line, so the home probes none.
TEST(Broadcast, ADirectoryAsksNoNodeIfNoneHasTheLine) {
  Composed machine("moesi_node", 4);
  machine.small.run({[](Cpu& cpu) { cpu.load(kLine); }});
  EXPECT_EQ(machine.bytes(0, 3), kRequest);
  EXPECT_EQ(machine.bytes(3, 0), kWithLine);
  for (const int other : {1, 2}) EXPECT_EQ(machine.bytes(3, other) + machine.bytes(other, 0), 0);
}

// Memory's answer is the last. 2130 the request is at the home; 2160 looked up; memory's data 2260; over the link 2310, as in
// RemoteMemoryCostsTwoLinksMore. The probes leave the home at 2160 and are at the nodes at 2210; the nodes' answers arrive a
// pass and a link later, at 2270.
TEST(Broadcast, ProbesGoBesideMemorysReading) {
  Composed machine("moesi_broadcast_node", 4);
  machine.small.run({[](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.load(kLine); }), 296 + 2 * 50); }});
}

// With links of 150 the nodes' answers are the last. 2230 the request is at the home; 2260 the probes leave; 2410 they are at
// the nodes; a pass and a link later, 2570, the answers arrive. Memory's data leaves the home at 2360 and arrives at 2510, 60
// earlier.
void slow_links(const std::string& protocol, double cycles) {
  MachineSpec spec = small_nodes(4, 4, protocol);
  spec.network.latency_ns = 150;
  SmallMachine small(spec);
  small.machine.homes().place(kLine, Home::on(3));
  small.run({[&](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.load(kLine); }), cycles); }});
}

TEST(Broadcast, AMissWaitsForTheSlowestAnswer) {
  slow_links("moesi_broadcast_node", 296 + 2 * 150 + 60);
}

TEST(Broadcast, ADirectorysMissWaitsForMemoryAlone) {
  slow_links("moesi_node", 296 + 2 * 150);
}

TEST(Broadcast, AnOwnerAnswersInMemorysPlaceAndMemoryStaysOld) {
  Composed machine("moesi_broadcast_node", 3);
  machine.small.run({[](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { EXPECT_EQ(cpu.load(kLine), 77U); }), 496); },
                     [](Cpu& cpu) { cpu.store(kLine, 77); }});
  EXPECT_EQ(machine.small.misses().back().source, Source::remote_c2c);
  EXPECT_EQ(machine.small.in_memory(kLine), 0U);
  EXPECT_EQ(machine.bytes(2, 0), kWithLine + 2 * kRequest) << "memory's line, which is old; an answer; a probe for the store";
}

// A dirty line becomes clean when it is shared: the reader's Done takes it to memory. The miss ends before that.
TEST(HomeSnoop, AReaderTakesADirtyLineToMemory) {
  Composed machine("mesif_broadcast_node", 3);
  machine.small.run({[](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { EXPECT_EQ(cpu.load(kLine), 77U); }), 496); },
                     [](Cpu& cpu) { cpu.store(kLine, 77); }});
  EXPECT_EQ(machine.small.misses().back().source, Source::remote_c2c);
  EXPECT_EQ(machine.small.in_memory(kLine), 77U);
  EXPECT_EQ(machine.bytes(0, 2), kRequest + kWithLine) << "GetS, DoneWb";
}

// The second reader of a clean line becomes its forwarder, and serves the third. Memory is up to date and gets no data.
TEST(HomeSnoop, TheNewestReaderForwards) {
  Composed machine("mesif_broadcast_node", 4);
  machine.small.run({[](Cpu& cpu) { cpu.load(kLine); },
                     [](Cpu& cpu) {
                       wait_until(cpu, 2000);
                       cpu.load(kLine);
                     },
                     [](Cpu& cpu) {
                       wait_until(cpu, 4000);
                       cpu.load(kLine);
                     }});
  EXPECT_EQ(machine.small.misses().back().source, Source::remote_c2c);
  EXPECT_EQ(machine.bytes(1, 2), kWithLine) << "the forwarder's answer";
  EXPECT_EQ(machine.bytes(0, 2), kRequest) << "a sharer's";
}

// CPU 0 writes a line; then CPU 1 reads another line of the same home. If the home has only one entry, it must give CPU 0's
// to CPU 1's line: it takes CPU 0's line back to memory, and CPU 0 misses on it later.
MachineSpec home_with(int entries) {
  MachineSpec spec = small_nodes(2, 2, "moesi_node_filter");
  spec.directory.entries = entries;
  spec.directory.ways = 1;
  return spec;
}

TEST(Filter, NeedsATableThatMakesPlace) {
  MachineSpec spec = small_nodes(2, 2);
  spec.directory.entries = 8;
  EXPECT_THAT([&] { SmallMachine small(spec); },
              testing::ThrowsMessage<std::invalid_argument>(testing::HasSubstr("mesi_directory has no Evict")));
}

void another_line_is_read_meanwhile(SmallMachine& small) {
  small.machine.homes().place(kLine, Home::on(1));
  small.run({[](Cpu& cpu) {
               cpu.store(kLine, 77);
               wait_until(cpu, 8000);
               EXPECT_EQ(cpu.load(kLine), 77U);
             },
             [](Cpu& cpu) {
               wait_until(cpu, 4000);
               cpu.load(kLine + 32);
             }});
}

TEST(Filter, ALineWhoseEntryIsEvictedIsTakenBack) {
  SmallMachine small(home_with(1));
  another_line_is_read_meanwhile(small);
  EXPECT_EQ(small.in_memory(kLine), 77U) << "its owner has had to give it up";
  EXPECT_EQ(small.misses().size(), 3U);
  EXPECT_EQ(small.misses().back().source, Source::remote_memory);
}

TEST(Filter, ALineWhoseEntryHasAPlaceStays) {
  SmallMachine small(home_with(2));
  another_line_is_read_meanwhile(small);
  EXPECT_EQ(small.in_memory(kLine), 0U);
  EXPECT_EQ(small.misses().size(), 2U);
}

}  // namespace
}  // namespace linebounce::test
