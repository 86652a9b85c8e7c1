#include <gmock/gmock.h>

#include "forms/tests/converted.hpp"
#include "trace/losses.hpp"

namespace linebounce::sim {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using trace::Kind;
using trace::Operation;

Operation viewed(Kind kind, std::uint8_t bytes, std::uint64_t offset, std::uint16_t flags = 0) {
  return {kind, bytes, flags, 0, offset};
}

constexpr const char* kViewHead =
    "Output format:\n<--record#-> <--instr#->: <---tid---> <record details>\n"
    "------------------------------------------------------------\n";
constexpr const char* kViewEnd = "View tool results:\n              3 : total instructions\n";

TEST(DrMemtrace, EachThreadIsAStreamOnTheCpuThatItsMarkerNames) {
  const Converted it = converted(
      "drmemtrace",
      std::string(kViewHead) +
          "           1           0:     2765542 <marker: version 5>\n"
          "           2           0:     2765542 <marker: tid 2765542 on core 3>\n"
          "           3           1:     2765542 ifetch       3 byte(s) @ 0x0000000000404a78 0f 84 5b   jz $0x404bd9 (taken)\n"
          "           4           2:     2765542 ifetch       9 byte(s) @ 0x0000000000404a7e 48 8b 5c 24 08 aa bb cc mov %rbx\n"
          "                       2:     2765542                                            dd\n"
          "           5           2:     2765542 read         8 byte(s) @ 0x00007fdf64e2adc8 by PC 0x0000000000404a7e\n"
          "------------------------------------------------------------\n"
          "           6           1:     2765543 ifetch       4 byte(s) @ 0x0000000000401d68 91038040   add\n"
          "           7           1:     2765543 write        4 byte(s) @ 0x00007fdf64e2adc8 by PC 0x0000000000401d68\n"
          "           8           1:     2765543 <thread 2765543 exited>\n" +
          kViewEnd);
  ASSERT_EQ(it.symbols.streams.size(), 2U);
  EXPECT_EQ(it.symbols.streams[0].name, "thread/2765542");
  EXPECT_EQ(it.symbols.streams[0].cpu, 3);
  EXPECT_EQ(it.symbols.streams[1].cpu, -1);
  EXPECT_THAT(it.streams[0], ElementsAre(Operation{Kind::execute, 0, 0, 0, 1}, viewed(Kind::load, 8, 0xdc8)));
  EXPECT_THAT(it.streams[1], ElementsAre(viewed(Kind::store, 4, 0xdc8)));
  EXPECT_THAT(it.missing, Contains(trace::facts_text(trace::Loss::no_atomics, "")));
  EXPECT_THAT(it.missing, Not(Contains(HasSubstr("cut off"))));
}

TEST(DrMemtrace, PrefixesOfOlderTracesAndOfSeveralWorkloadsAreRead) {
  const Converted it = converted("drmemtrace", std::string("Output format:\n<record#>: T<tid> <record details>\n") +
                                                   "   173370: T1774669 read 8 byte(s) @ 0x1010 by PC 0x402680\n"
                                                   "10 2: W0.T292 write 8 byte(s) @ 0x1018 by PC 0x6789\n");
  ASSERT_EQ(it.symbols.streams.size(), 2U);
  EXPECT_EQ(it.symbols.streams[0].name, "thread/T1774669");
  EXPECT_EQ(it.symbols.streams[1].name, "thread/W0.T292");
  EXPECT_THAT(it.missing, Contains(HasSubstr("may have been cut off")));
}

TEST(DrMemtrace, PrefetchesOfDataAreKeptAndThoseOfInstructionsAndFlushesAreNot) {
  const Converted it = converted("drmemtrace", std::string(kViewHead) +
                                                   "1 1: 7 pref-r-L1    1 byte(s) @ 0x1001 by PC 0x40\n"
                                                   "2 2: 7 pref-w       1 byte(s) @ 0x1040 by PC 0x40\n"
                                                   "3 3: 7 pref-i       1 byte(s) @ 0x1080 by PC 0x40\n"
                                                   "4 3: 7 pref-HW      1 byte(s) @ 0x1080 by PC 0x40\n"
                                                   "5 3: 7 dflush      64 byte(s) @ 0x1040 by PC 0x40\n" +
                                                   kViewEnd);
  EXPECT_THAT(it.streams[0], ElementsAre(viewed(Kind::prefetch, 1, 1), viewed(Kind::prefetch, 1, 0x40, trace::kForWrite)));
  EXPECT_THAT(it.missing, Contains(StartsWith("1 flushes")));
}

TEST(DrMemtrace, TheProgramsOutputMayPrecedeTheHeadAndTheHeadMayBeMissing) {
  const std::string record = "  1   1:   17 read   8 byte(s) @ 0x1010 by PC 0x40\n";
  for (const std::string& text : {"hello\nbye: 3\n" + std::string(kViewHead) + record, record,
                                  std::string("   T17 read   8 byte(s) @ 0x1010 by PC 0x40\n")}) {
    EXPECT_THAT(recognised(text), ElementsAre("drmemtrace!")) << text;
    EXPECT_THAT(converted("drmemtrace", text).streams.at(0), ElementsAre(viewed(Kind::load, 8, 0x10))) << text;
  }
}

TEST(DrMemtrace, RefusesALineThatIsNotARecordAndNamesIt) {
  const std::string head = kViewHead;
  EXPECT_THAT(refusal("drmemtrace", head + "hello world\n"), StartsWith("line 4: expected RECORD INSTRUCTION: THREAD"));
  EXPECT_THAT(refusal("drmemtrace", head + "1 1: 7 read 8 bytes\n"), StartsWith("line 4: expected SIZE byte(s) @ 0x"));
  EXPECT_THAT(refusal("drmemtrace", head + "1 1: 7 read 8 byte(s) @ 0x10z by PC 0x1\n"), StartsWith("line 4: expected SIZE"));
  EXPECT_THAT(refusal("drmemtrace", head + "1 1: 7 jump 8 byte(s) @ 0x10 by PC 0x1\n"), StartsWith("line 4: expected ifetch"));
}

}  // namespace
}  // namespace linebounce::sim
