#include "models/text/csv_row.hpp"

#include <gmock/gmock.h>

namespace linebounce {
namespace {

using testing::ElementsAre;
using testing::Optional;

TEST(CsvRow, CommasPartFields) {
  EXPECT_THAT(split_csv_row("a,b c,3"), Optional(ElementsAre("a", "b c", "3")));
  EXPECT_THAT(split_csv_row(",x,"), Optional(ElementsAre("", "x", "")));
  EXPECT_THAT(split_csv_row(""), Optional(ElementsAre("")));
}

TEST(CsvRow, QuotesHoldCommasAndQuotes) {
  EXPECT_THAT(split_csv_row(R"("a,b","say ""x""",c)"), Optional(ElementsAre("a,b", "say \"x\"", "c")));
}

TEST(CsvRow, AQuotedFieldThatDoesNotEndIsNone) {
  EXPECT_EQ(split_csv_row(R"(a,"b,c)"), std::nullopt);
  EXPECT_EQ(split_csv_row(R"("a"b,c)"), std::nullopt);
}

}  // namespace
}  // namespace linebounce
