#include <gmock/gmock.h>

#include <string>

#include "models/coherence/protocol.hpp"
#include "tests/models/coherence/shipped.hpp"

namespace linebounce::test {
namespace {

using testing::HasSubstr;

TEST(DescribeProtocol, ShowsTheGridOfStatesAndEvents) {
  const std::string page = describe_protocol(shipped_protocol("mesi_snoop"));
  EXPECT_THAT(page, HasSubstr("  Load               IS_AD  hit    hit    hit   stall  stall  hit    stall  stall"));
  EXPECT_THAT(page, HasSubstr("  Store              IM_AD  SM_AD  hit M  hit   stall"));
  EXPECT_THAT(page, HasSubstr("  Own_GetS [alone]   .      .      .      .     IE_D   ."));
}

TEST(DescribeProtocol, SaysOfEachRowWhatItDoesAndWhy) {
  const std::string page = describe_protocol(shipped_protocol("mesi_snoop"));
  EXPECT_THAT(
      page,
      HasSubstr("    Other_GetS: assert shared; assert owned; send data to requestor, memory -> S\n        memory is old"));
  EXPECT_THAT(page, HasSubstr("    Load: issue GetS -> IS_AD\n        read miss"));
}

TEST(DescribeProtocol, FitsATerminalsWidthInTheGrid) {
  const std::string page = describe_protocol(shipped_protocol("mesi_snoop_upgrade_retry"));
  const std::size_t grid = page.find("States (columns)");
  const std::size_t rows = page.find("Rows, by state");
  std::size_t start = grid;
  while (start < rows) {
    const std::size_t end = page.find('\n', start);
    EXPECT_LE(end - start, 120) << page.substr(start, end - start);
    EXPECT_TRUE(end == start || page[end - 1] != ' ');
    start = end + 1;
  }
}

}  // namespace
}  // namespace linebounce::test
