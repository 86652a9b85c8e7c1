#include "models/text/csv_row.hpp"

#include <gmock/gmock.h>

namespace linebounce {
namespace {

using testing::ElementsAre;
using testing::Optional;

using Fields = std::vector<std::string>;

// The fields of a text that consists of one row.
std::optional<Fields> fields_of(std::string_view text) {
  const auto fields = take_csv_row(text);
  EXPECT_TRUE(!fields || text.empty());
  return fields;
}

TEST(CsvRow, HasItsFieldsBetweenCommas) {
  EXPECT_THAT(fields_of("a,b c,3"), Optional(ElementsAre("a", "b c", "3")));
  EXPECT_THAT(fields_of(",x,"), Optional(ElementsAre("", "x", "")));
  EXPECT_THAT(fields_of("\n"), Optional(ElementsAre("")));
}

TEST(CsvRow, KeepsCommasAndQuotesInQuotes) {
  EXPECT_THAT(fields_of(R"("a,b","say ""x""",c)"), Optional(ElementsAre("a,b", "say \"x\"", "c")));
}

TEST(CsvRow, EndsWithItsLine) {
  for (std::string_view text : {"a,b\nc,d\n", "a,\"b\"\nc,d\n", "a,b\r\nc,d\n"}) {
    EXPECT_THAT(take_csv_row(text), Optional(ElementsAre("a", "b"))) << text;
    EXPECT_EQ(text, "c,d\n");
  }
}

TEST(CsvRow, KeepsLineEndsInQuotes) {
  EXPECT_THAT(fields_of("\"a\nb\r\n\",\"\n\"\n"), Optional(ElementsAre("a\nb\r\n", "\n")));
}

TEST(CsvRow, RefusesAQuoteThatDoesNotEndWhereItShould) {
  EXPECT_EQ(fields_of(R"(a,"b,c)"), std::nullopt);
  EXPECT_EQ(fields_of(R"("a"b,c)"), std::nullopt);
}

}  // namespace
}  // namespace linebounce
