// Traces that courses' simulators take: Ramulator's, CADSS's and the Amsterdam laboratory's.
#include <gmock/gmock.h>

#include "forms/tests/converted.hpp"

namespace linebounce::sim {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using trace::Kind;
using trace::Operation;

Operation course_access(Kind kind, std::uint8_t bytes, std::uint32_t object, std::uint64_t offset) {
  return {kind, bytes, 0, object, offset};
}
Operation course_step(Kind kind, std::uint64_t argument, std::uint32_t id = 0) {
  return {kind, 0, 0, id, argument};
}

TEST(Ramulator, BubblesAreInstructionsAndALineWrittenBackIsAStore) {
  const Converted it = converted("ramulator", "3 20734016\n0 20734080 20738112\n");
  EXPECT_THAT(it.streams[0],
              ElementsAre(course_step(Kind::execute, 3), course_access(Kind::load, 8, 0, 20734016 % 4096),
                          course_access(Kind::load, 8, 0, 20734080 % 4096), course_access(Kind::store, 8, 1, 20738112 % 4096)));
  EXPECT_THAT(it.missing, Contains(HasSubstr("1 lines that those caches wrote back became stores")));
  EXPECT_THAT(it.missing, Contains(HasSubstr("Ramulator recorded misses of a program's caches")));
}

TEST(Ramulator, LinesThatStateTheirKindAreNotBehindCaches) {
  const Converted it = converted("ramulator", "2 0x2000 W\nLD 8200\nST 0x2010\n");
  EXPECT_THAT(it.streams[0], ElementsAre(course_step(Kind::execute, 2), course_access(Kind::store, 8, 0, 0),
                                         course_access(Kind::load, 8, 0, 8), course_access(Kind::store, 8, 0, 16)));
  EXPECT_THAT(it.missing, Not(Contains(HasSubstr("misses of a program's caches"))));
}

TEST(Ramulator, WhatItsTwoVersionsReadDifferentlyIsRefused) {
  EXPECT_THAT(refusal("ramulator", "3 64\n3 0100\n"), HasSubstr("line 2: expected a number of instructions"));
  EXPECT_THAT(refusal("ramulator", "R 0,1,2,100,32\n"), HasSubstr("line 1: expected"));
  EXPECT_THAT(refusal("ramulator", "3 64 128 192\n"), HasSubstr("line 1: expected"));
  EXPECT_THAT(refusal("ramulator", "3 64 r\n"), HasSubstr("line 1: expected"));
}

TEST(Cadss, LinesAreInstructionsOfWhichSomeAccess) {
  const Converted it =
      converted("cadss", "A 7f23 0, 3, -1\nX 7f26 -1, -1, -1\nL 1000,4 7\nB 7f29 7f40 3\nS 0x1008, 8\nB 7f40 7f44\n");
  EXPECT_THAT(it.streams[0],
              ElementsAre(course_step(Kind::execute, 2), course_access(Kind::load, 4, 0, 0), course_step(Kind::execute, 1),
                          course_access(Kind::store, 8, 0, 8), course_step(Kind::execute, 1)));
}

TEST(Cadss, LinesOfOtherKindsAreRefusedByTheirNumber) {
  EXPECT_THAT(refusal("cadss", "L 10,4\nM 10,4\n"), HasSubstr("line 2: expected L or S"));
  for (const char* text : {"L 10,0\n", "L 10\n", "L 10,4 x\n", "A 10 1, 2\n", "A 10 1 2 3\n", "B 10\n", "A 10 1, 2, 3, 4\n"})
    EXPECT_THAT(refusal("cadss", text), HasSubstr("line 1: expected L or S")) << text;
}

std::string trf_word(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = bytes; i-- > 0;) text += static_cast<char>(value >> (8 * i) & 0xFF);
  return text;
}
constexpr std::uint64_t kTrfRead = std::uint64_t{1} << 62, kTrfWrite = std::uint64_t{2} << 62, kTrfEnd = std::uint64_t{3} << 62;

std::string trf(std::uint64_t processors, const std::vector<std::uint64_t>& entries) {
  std::string text = "4TRF" + trf_word(processors, 4);
  for (const std::uint64_t entry : entries) text += trf_word(entry, 8);
  return text;
}

TEST(Trf, RowsKeepTheirOrder) {
  const Converted it =
      converted("trf", {trf(2, {kTrfRead | 0x20, 0, 0, kTrfWrite | 0x24, kTrfRead | 0x20, 0, kTrfEnd, kTrfEnd})});
  ASSERT_EQ(it.symbols.streams.size(), 2U);
  EXPECT_THAT(it.streams[0], ElementsAre(course_access(Kind::load, 4, 0, 0x20), course_step(Kind::wake, 0, 1),
                                         course_step(Kind::sleep, 1), course_access(Kind::load, 4, 0, 0x20)));
  EXPECT_THAT(it.streams[1], ElementsAre(course_step(Kind::sleep, 1), course_access(Kind::store, 4, 0, 0x24),
                                         course_step(Kind::fence, 0), course_step(Kind::wake, 0, 0)));
  EXPECT_THAT(it.missing, Not(Contains(HasSubstr("cut off"))));
}

TEST(Trf, AtTheirOwnPaceProcessorsHaveNoOrderAndNothingTakesACycle) {
  const Converted it = converted("trf-timed", {trf(2, {kTrfRead | 0x20, 0, 0, kTrfWrite | 0x24, kTrfEnd, kTrfEnd})});
  EXPECT_THAT(it.streams[0], ElementsAre(course_access(Kind::load, 4, 0, 0x20), course_step(Kind::compute, 1)));
  EXPECT_THAT(it.streams[1], ElementsAre(course_step(Kind::compute, 1), course_access(Kind::store, 4, 0, 0x24)));
  EXPECT_THAT(it.missing, Contains(HasSubstr("no order between threads")));
}

TEST(Trf, WhatIsCutOffOrBehindTheEndIsRefusedOrDoubted) {
  EXPECT_THAT(converted("trf", {trf(2, {kTrfRead | 0x20, kTrfEnd})}).missing,
              Contains(HasSubstr("ends without the end of 1 processors")));
  EXPECT_THAT(refusal("trf", trf(1, {kTrfRead, kTrfEnd, kTrfWrite | 8})),
              HasSubstr("entry 3: processor 0 reads or writes behind its end"));
  EXPECT_THAT(refusal("trf", trf(1, {kTrfRead}) + "abc"), HasSubstr("entry 2: only 3 of its 8 bytes are there"));
  EXPECT_THAT(refusal("trf", trf(0, {})), HasSubstr("it is for 0 processors; legal: 1 to 65536"));
  EXPECT_THAT(refusal("trf", "4TRF"), HasSubstr("it does not begin with"));
}

}  // namespace
}  // namespace linebounce::sim
