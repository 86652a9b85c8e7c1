#include "models/text/fields.hpp"

#include <gmock/gmock.h>

#include <stdexcept>

namespace linebounce {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

std::string filled(std::string_view text) {
  return fill_fields(text, [](std::string_view field) { return "<" + std::string(field) + ">"; });
}

TEST(Fields, AreReplacedAndTheTextAroundThemStays) {
  EXPECT_EQ(filled("cache {cache}: {from} -> {to}"), "cache <cache>: <from> -> <to>");
  EXPECT_EQ(filled("{a}{b}"), "<a><b>");
  EXPECT_EQ(filled("{}"), "<>");
  EXPECT_EQ(filled("no field, but a }"), "no field, but a }");
  EXPECT_EQ(filled(""), "");
}

TEST(Fields, MustBeClosed) {
  EXPECT_THAT([] { filled("cache {cache"); }, ThrowsMessage<std::invalid_argument>(HasSubstr("'{' without '}'")));
}

}  // namespace
}  // namespace linebounce
