#include "models/text/whole_number.hpp"

#include <gtest/gtest.h>

namespace linebounce {
namespace {

TEST(WholeNumber, IsTheWholeTextAndWithinItsBounds) {
  EXPECT_EQ(whole_number("0", 0, 7), 0);
  EXPECT_EQ(whole_number("7", 0, 7), 7);
  EXPECT_EQ(whole_number("-3", -5, 5), -3);
  for (const char* text : {"", "8", "-1", "7 ", " 7", "+7", "7x", "0x7", "7.0", "99999999999999999999"}) {
    EXPECT_EQ(whole_number(text, 0, 7), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace linebounce
