#include <gmock/gmock.h>

#include <array>

#include "forms/tests/converted.hpp"

namespace linebounce::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;
using trace::Kind;
using trace::Operation;

Operation memory(Kind kind, std::uint8_t bytes, std::uint32_t object, std::uint64_t offset, int repeats = 0) {
  return {kind, bytes, static_cast<std::uint16_t>(repeats << trace::kRepeatShift), object, offset};
}
Operation part(Kind kind, std::uint8_t bytes, std::uint32_t object, std::uint64_t offset, int repeats = 0) {
  Operation operation = memory(kind, bytes, object, offset, repeats);
  operation.flags |= trace::kPart;
  return operation;
}
Operation execute(std::uint64_t instructions) {
  return {Kind::execute, 0, 0, 0, instructions};
}
Operation named(Kind kind, std::uint32_t id) {
  return {kind, 0, 0, id, 0};
}

TEST(Dinero, ReadsAndWritesAreWordsAndInstructionsWithoutAccessesAreExecuted) {
  const Converted it = converted("dinero", "2 400\n2 404\n0 1000 a comment\n2 408\n1 1004\n2 40c\n3 0\n");
  ASSERT_EQ(it.streams.size(), 1U);
  EXPECT_THAT(it.streams[0], ElementsAre(execute(1), memory(Kind::load, 4, 0, 0), memory(Kind::store, 4, 0, 4), execute(1)));
  ASSERT_EQ(it.symbols.objects.size(), 1U);
  EXPECT_EQ(it.symbols.objects[0].address, 0x1000U);
  EXPECT_EQ(it.symbols.objects[0].size, 4096);
  EXPECT_TRUE(it.symbols.locks.empty());
  EXPECT_THAT(it.missing, testing::Contains(HasSubstr("no locks")));
}

TEST(Dinero, AnAddressThatIsNoMultipleOfAWordMakesAllAccessesSmaller) {
  const Converted it = converted("dinero", "0 1000\n1 1006\n4 1\n2 3\n");
  EXPECT_THAT(it.streams[0], ElementsAre(memory(Kind::load, 2, 0, 0), memory(Kind::store, 2, 0, 6), execute(1)));
  EXPECT_THAT(it.missing, testing::Contains("Dinero has no access sizes. Assumed, in bytes: 2."));
}

TEST(Dinero, ALineThatIsNotARecordIsRefusedByItsNumber) {
  EXPECT_EQ(refusal("dinero", "0 1000\n0 xyz\n"),
            "line 2: expected a label (0 read, 1 write, 2 instruction, 3 and 4 escapes) and a hexadecimal address: \"0 xyz\"");
  EXPECT_THAT(refusal("dinero", "7 1000\n"), StartsWith("line 1: expected a label (0 read"));
}

TEST(Lackey, AnAccessIsSplitIntoAlignedPiecesAndAtPages) {
  // Lackey's 16 bytes at an address that is only a multiple of 4, then 16 bytes on two pages, then 32 aligned bytes.
  const Converted it = converted("lackey", "==7== Lackey\nI  400000,3\n L 1004,16\n S 1ff8,16\n M 3000,32\n");
  EXPECT_THAT(it.streams[0],
              ElementsAre(memory(Kind::load, 4, 0, 4), part(Kind::load, 8, 0, 8), part(Kind::load, 4, 0, 16),
                          memory(Kind::store, 8, 0, 0xFF8), part(Kind::store, 8, 1, 0), memory(Kind::load, 8, 2, 0),
                          part(Kind::load, 8, 2, 8, 2), memory(Kind::store, 8, 2, 0), part(Kind::store, 8, 2, 8, 2)));
}

TEST(Lackey, OnlyInstructionsWithoutAccessAreExecutedBesideAccesses) {
  const Converted it = converted("lackey", "I  40,1\nI  41,1\n L 1000,1\n S 1001,1\nI  42,1\nI  43,1\n");
  EXPECT_THAT(it.streams[0], ElementsAre(execute(1), memory(Kind::load, 1, 0, 0), memory(Kind::store, 1, 0, 1), execute(2)));
}

TEST(Lackey, LinesOfOtherKindsAndSizesAreRefused) {
  EXPECT_THAT(refusal("lackey", "I  40,1\n X 1000,4\n"), StartsWith("line 2: expected I, L, S or M"));
  EXPECT_THAT(refusal("lackey", " L 1000\n"), StartsWith("line 1: expected"));
  EXPECT_THAT(refusal("lackey", " L 1000,0\n"), StartsWith("line 1: expected"));
}

std::string champsim_record(std::array<std::uint64_t, 2> written, std::array<std::uint64_t, 4> read) {
  std::string record(16, '\0');
  const auto word = [&record](std::uint64_t value) {
    for (int i = 0; i < 8; ++i) record += static_cast<char>(value >> (8 * i) & 0xFF);
  };
  for (const std::uint64_t address : written) word(address);
  for (const std::uint64_t address : read) word(address);
  return record;
}

TEST(ChampSim, AnInstructionReadsThenWritesAndAddressesOfZeroAreNone) {
  const std::string text =
      champsim_record({}, {}) + champsim_record({0x2010, 0}, {0x1008, 0x1013, 0, 0}) + champsim_record({}, {});
  const Converted it = converted("champsim", text);
  EXPECT_THAT(it.streams[0], ElementsAre(execute(1), memory(Kind::load, 8, 0, 8), memory(Kind::load, 8, 0, 16),
                                         memory(Kind::store, 8, 1, 16), execute(1)));
}

TEST(ChampSim, ARecordThatEndsEarlyIsRefusedByItsNumber) {
  EXPECT_THAT(refusal("champsim", champsim_record({}, {}) + "abc"), StartsWith("record 2: only 3 of its 64 bytes"));
}

TEST(ChampSim, ACompressedFileIsRefusedWithTheToolThatDecompressesIt) {
  EXPECT_THAT(refusal("champsim",
                      "\xFD"
                      "7zXZ and more"),
              HasSubstr("decompress it first: xz -dc"));
  EXPECT_THAT(refusal("champsim", std::string("\x1F\x8B\x08", 3)), HasSubstr("gzip"));
}

TEST(PerfScript, EachThreadIsAStreamAndSamplesStandInTheirFunctions) {
  const Converted it = converted(
      "perf-script",
      "worker one  100/101 [003] 12.5:  7 cpu/mem-loads,ldlat=30/P:  7f0000001010  68100142 |OP LOAD|LVL L1 hit|LCK No| 12 "
      "400123abcd table<int, long>::find(int)+0x7 (/usr/bin/x)\n"
      "\t400123abcd table::find (/usr/bin/x)\n"
      "worker one  100/102 [001] 12.6:  7 cpu/mem-stores/P:  7f0000001018  68100144 |OP STORE|LCK No|BLK N/A 400123abce "
      "main+0x1 (/x)\n"
      "worker one  100/101 [002] 12.7:  7 cpu/mem-loads,ldlat=30/P:  7f0000001020  68100142 |OP LOAD|LCK Yes| 400123abcd "
      "table<int, long>::find(int)+0x9 (/usr/bin/x)\n");
  ASSERT_EQ(it.symbols.streams.size(), 2U);
  EXPECT_EQ(it.symbols.streams[0].name, "worker one/101");
  EXPECT_EQ(it.symbols.streams[0].cpu, 3);
  ASSERT_EQ(it.symbols.functions.size(), 2U);
  EXPECT_EQ(it.symbols.functions[0].name, "table<int, long>::find(int)");
  EXPECT_THAT(it.streams[0], ElementsAre(named(Kind::enter, 0), memory(Kind::load, 8, 0, 0x10),
                                         memory(Kind::fetch_add, 8, 0, 0x20), named(Kind::leave, 0)));
  EXPECT_THAT(it.streams[1], ElementsAre(named(Kind::enter, 1), memory(Kind::store, 8, 0, 0x18), named(Kind::leave, 0)));
  EXPECT_THAT(it.missing, testing::Contains(HasSubstr("samples")));
}

TEST(PerfScript, SamplesThatSayNoKindAreCountedAsLoads) {
  const Converted it = converted("perf-script", "true 24640 12878.736516: page-faults: 5587d2fa91e0 [unknown] ([stack])\n");
  EXPECT_THAT(it.streams[0], ElementsAre(memory(Kind::load, 8, 0, 0x1e0)));
  EXPECT_THAT(it.missing, testing::Contains(HasSubstr("1 samples are neither")));
}

TEST(PerfScript, TheDescriptionOfAnAccessAndAnInstructionAreNotTakenForItsAddress) {
  constexpr const char* kHint = "has no data address; perf script -F +addr";
  EXPECT_THAT(refusal("perf-script", "walk 3 [20] 1.5: 1 l1d-miss: 8688000842 |OP LOAD|LCK No| aaac17c3e88 f (/x)\n"),
              HasSubstr(kHint));
  EXPECT_THAT(refusal("perf-script", "walk 3 [20] 1.5: 10000 cycles:P: ffffffff81a01234 do_idle+0x4 ([kernel])\n"),
              HasSubstr(kHint));
}

TEST(PerfScript, SeveralEventsOfOneAccessCountOnce) {
  const std::string at = ": ffff88001180  68100142 |OP LOAD|LVL L1 miss|LCK No| aaac17c3e88 walk+0x10 (/x)\n";
  const Converted it = converted("perf-script", "walk 3 [20] 1.5: 1 l1d-miss" + at + "walk 3 [20] 1.5: 1 tlb-access" + at +
                                                    "walk 3 [20] 1.6: 1 l1d-miss" + at);
  EXPECT_THAT(counts(it), testing::Contains(testing::Pair(Kind::load, 2)));
  EXPECT_THAT(it.missing, testing::Contains(StartsWith("1 samples are further events")));
}

TEST(PerfScript, ACallChainNamesTheFunctionAlsoWhereAnEMailProgramHasReplacedItsTabs) {
  const Converted it =
      converted("perf-script",
                "db 9/10 [6] 1.5: 1 cpu/mem-loads/P: 7f0012345678  68100142 |OP LOAD|LCK Yes| 88\n"
                "        ffffffff81234567 futex_wait+0x17 ([kernel])\n            5581a01234 lock+0x4 (/db)\n\n");
  EXPECT_THAT(it.streams[0], ElementsAre(named(Kind::enter, 0), memory(Kind::fetch_add, 8, 0, 0x678), named(Kind::leave, 0)));
  EXPECT_EQ(it.symbols.functions.at(0).name, "futex_wait");
}

TEST(PerfScript, CommandsTimesAndEventsMayBeMissing) {
  for (const char* line : {"9/10 [002] 4.5: cpu/mem-loads/P: 7f0012345678 50 |OP LOAD|LCK No\n",
                           "db 9/10 [002] cpu/mem-loads/P: 7f0012345678 50 |OP LOAD|LCK No\n",
                           "db 9/10 [002] 4.5: 7f0012345678 50 |OP LOAD|LCK No\n"}) {
    EXPECT_THAT(recognised(line), ElementsAre("perf-script!")) << line;
    EXPECT_THAT(converted("perf-script", line).streams.at(0), ElementsAre(memory(Kind::load, 8, 0, 0x678))) << line;
  }
}

TEST(PerfScript, RefusesALineThatIsNotASample) {
  EXPECT_THAT(refusal("perf-script", "# a header\nhello world\n"), StartsWith("line 2: expected COMMAND PID"));
  EXPECT_THAT(refusal("perf-script", "a 1 2.0: cycles:\n"), HasSubstr("perf script -F +addr"));
}

}  // namespace
}  // namespace linebounce::sim
