// Tests what each pair of a node's protocol and a directory's costs and saves: in ticks, in bytes on the links, in memory's
// copy. The machine is small_nodes() of small_machine.hpp; latencies_test.cpp explains the stages of a miss. A message takes
// 16 bytes on a link, one with a line of data 48.
#include <gmock/gmock.h>

#include <array>

#include "tests/models/support/small_machine.hpp"
#include "tests/support/expect_reached.hpp"

namespace linebounce::test {
namespace {

constexpr std::int64_t kRequest = 16, kWithLine = 48;

// A line whose home is the last of the nodes, with one CPU each.
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

// CPU 1 writes, CPU 0 reads, the home is node 2. In MESI the owner sends the line to the reader and home; see
// ADirtyLineOfAnotherNodeComesFromItsCache for the 496 cycles.
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

// Once the owner's controller has the line, a further reader needs no recall. The request is at the home at 4130; the home's
// forward leaves at 4160 and is at the owner at 4210. The line leaves one pass later and reaches the reader's controller at
// 4270: stamped 4280, granted 4290, snoop result 4340, at the pins 4350, 4355.
TEST(Moesi, AnOwnersControllerAnswersFurtherReadersWithoutItsBus) {
  Composed machine("moesi_node", 4);
  machine.small.run({[](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { EXPECT_EQ(cpu.load(kLine), 77U); }), 496); },
                     [](Cpu& cpu) { cpu.store(kLine, 77); },
                     [](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 4000, [&] { EXPECT_EQ(cpu.load(kLine), 77U); }), 356); }});
  EXPECT_EQ(machine.small.misses().back().source, Source::remote_c2c);
  EXPECT_EQ(machine.small.in_memory(kLine), 0U);
  EXPECT_EQ(machine.bytes(1, 3), kRequest) << "the owner has told its home nothing since its GetM";
}

// The owner writes the line back when it is evicted: two other lines of its set need both ways of its controller's cache. CPU
// 0's node is the owner as soon as its request is at the home, but has to wait for memory. Two readers' requests reach it in
// the meantime; the second waits behind the first.
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

// Both ways of the set hold lines that are being fetched, so the third line gets none; it is served all the same.
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

// A clean line that is read a third time comes from memory in MESI: the home's answer crosses one link with the line...
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

// ... and in MESIF it comes from the node that read it last, as in AnOwnersControllerAnswersFurtherReadersWithoutItsBus: over
// one link more, but without the 100 cycles of memory.
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

// Dirty lines behave as in MESI: the first read updates memory.
TEST(Mesif, ADirtyLineThatIsReadGoesHomeToo) {
  Composed machine("mesif_node", 3);
  dirty_line_is_read(machine);
  EXPECT_EQ(machine.small.in_memory(kLine), 77U);
}

// Without a directory a miss asks every node, and every node answers the requestor: with n nodes n - 1 probes leave the home
// and n - 1 answers come. CPU 0 reads what only memory has: beside GetS and Done it sends nothing; the home, node 3, sends it
// the line and nodes 1 and 2 a probe; both answer.
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

// With a directory only the home is asked.
TEST(Broadcast, ADirectoryAsksNoNodeIfNoneHasTheLine) {
  Composed machine("moesi_node", 4);
  machine.small.run({[](Cpu& cpu) { cpu.load(kLine); }});
  EXPECT_EQ(machine.bytes(0, 3), kRequest);
  EXPECT_EQ(machine.bytes(3, 0), kWithLine);
  for (const int other : {1, 2}) EXPECT_EQ(machine.bytes(3, other) + machine.bytes(other, 0), 0);
}

// The miss waits for the slowest answer, which is memory's. The request is at the home at 2130, looked up at 2160; memory's
// first data comes at 2260, and is over the link at 2310, as in RemoteMemoryCostsTwoLinksMore. The probes reach their nodes
// at 2210; their answers arrive at 2270.
TEST(Broadcast, ProbesGoBesideMemorysReading) {
  Composed machine("moesi_broadcast_node", 4);
  machine.small.run({[](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.load(kLine); }), 296 + 2 * 50); }});
}

// With links of 150 the answers are the slowest. The request is at the home at 2230; memory's line leaves it at 2360 and is
// back at 2510. The probes leave the home at 2260 and reach the nodes at 2410; the answers arrive a pass and a link later, at
// 2570.
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

// The reader sends the line to memory with its Done, so that it is clean when shared; the miss does not get longer.
TEST(HomeSnoop, AReaderTakesADirtyLineToMemory) {
  Composed machine("mesif_broadcast_node", 3);
  machine.small.run({[](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { EXPECT_EQ(cpu.load(kLine), 77U); }), 496); },
                     [](Cpu& cpu) { cpu.store(kLine, 77); }});
  EXPECT_EQ(machine.small.misses().back().source, Source::remote_c2c);
  EXPECT_EQ(machine.small.in_memory(kLine), 77U);
  EXPECT_EQ(machine.bytes(0, 2), kRequest + kWithLine) << "GetS, DoneWb";
}

// The third reader of a clean line gets it from the second, which forwards it: nothing was written, so memory gets nothing.
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

// A home with one entry. CPU 0 writes a line; CPU 1 reads another one, which takes the entry. So the first line is written
// back, and CPU 0 misses on it later.
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
