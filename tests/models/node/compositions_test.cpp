// What a composition of a node's protocol with a directory's costs and saves: in ticks, in bytes on the links, in memory's
// copy. The machine is small_nodes() of small_machine.hpp; how the stages of a miss add up is explained in latencies_test.cpp.
// A message is 16 bytes on a link, one with a line of data 48.
#include <gtest/gtest.h>

#include "tests/models/support/small_machine.hpp"

namespace linebounce::test {
namespace {

constexpr std::int64_t kRequest = 16, kWithLine = 48;

// A line that is at home on the last of the nodes, one CPU each.
class Composed {
 public:
  Composed(const std::string& protocol, int nodes) : small(small_nodes(nodes, nodes, protocol)) {
    small.machine.homes().place(kLine, Home::on(nodes - 1));
  }

  // What has crossed the link between two nodes.
  [[nodiscard]] std::int64_t bytes(int from, int to) const {
    for (const LinkStatistics& link : small.machine.network()->links()) {
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

// Once the owner's controller has the line, a further reader costs no recall. The request is at the home at 4130, the forward
// leaves it at 4160 and is at the owner at 4210, the line leaves a pass later and is back at 4270, stamped 4280, granted 4290,
// snoop result 4340, at the pins 4350, 4355.
TEST(Moesi, AnOwnersControllerAnswersFurtherReadersWithoutItsBus) {
  Composed machine("moesi_node", 4);
  machine.small.run({[](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { EXPECT_EQ(cpu.load(kLine), 77U); }), 496); },
                     [](Cpu& cpu) { cpu.store(kLine, 77); },
                     [](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 4000, [&] { EXPECT_EQ(cpu.load(kLine), 77U); }), 356); }});
  EXPECT_EQ(machine.small.misses().back().source, Source::remote_c2c);
  EXPECT_EQ(machine.small.in_memory(kLine), 0U);
  EXPECT_EQ(machine.bytes(1, 3), kRequest) << "the owner has told its home nothing since its GetM";
}

// The owner writes the line back when it is evicted: two other lines of its set need the two ways of its controller's cache.
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

// A clean line that is read a third time: from memory in MESI, the home's answer crossing one link with the line...
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

// ... and in MESIF from the node that has read it last, as AnOwnersControllerAnswersFurtherReadersWithoutItsBus: one link more,
// but no 100 cycles of memory.
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

// Dirty lines are no different from MESI: memory gets them with the first reader.
TEST(Mesif, ADirtyLineThatIsReadGoesHomeToo) {
  Composed machine("mesif_node", 3);
  dirty_line_is_read(machine);
  EXPECT_EQ(machine.small.in_memory(kLine), 77U);
}

}  // namespace
}  // namespace linebounce::test
