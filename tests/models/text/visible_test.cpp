#include "models/text/visible.hpp"

#include <gtest/gtest.h>

namespace linebounce {
namespace {

TEST(Visible, TextStaysAsItIs) {
  const std::string text =
      "Gr\xc3\xbc\xc3\x9f"
      "e \xe7\xb7\x9a \xf0\x9f\x98\x80\n\tand tabs ~";
  EXPECT_EQ(visible(text), text);
}

TEST(Visible, WhatActsOnATerminalIsSpelledOut) {
  EXPECT_EQ(visible("\x1b[2J\r\x7f"), "\\u001b[2J\\u000d\\u007f");
  EXPECT_EQ(visible("\xc2\x9b"
                    "2J"),
            "\\u009b2J");                                            // the same as a single character
  EXPECT_EQ(visible("\xe2\x80\xae\xe2\x81\xa6"), "\\u202e\\u2066");  // right-to-left marks
  EXPECT_EQ(visible(std::string_view("\0", 1)), "\\u0000");
}

TEST(Visible, BytesThatAreNotUtf8AreShownAsSuch) {
  EXPECT_EQ(visible("a\xff"), "a\\xff");
  EXPECT_EQ(visible("\xe2\x82"), "\\xe2\\x82") << "cut off";
  EXPECT_EQ(visible("\xc0\x9b"), "\\xc0\\x9b") << "longer than it need be";
  EXPECT_EQ(visible("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "half of a pair of UTF-16";
}

TEST(Utf8, IsDistinguishedFromOtherBytes) {
  EXPECT_TRUE(is_utf8("\xf4\x8f\xbf\xbf"));
  EXPECT_FALSE(is_utf8("\xf4\x90\x80\x80"));
  EXPECT_TRUE(is_utf8(""));
  EXPECT_TRUE(is_utf8("\xed\x9f\xbf") && is_utf8("\xee\x80\x80")) << "before and behind the halves of pairs";
  EXPECT_FALSE(is_utf8("\xed\xa0\x80")) << "the first half";
  EXPECT_FALSE(is_utf8("\xed\xbf\xbf")) << "the last half";
}

}  // namespace
}  // namespace linebounce
