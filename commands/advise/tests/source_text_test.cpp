#include "commands/advise/source_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace linebounce::sim {
namespace {

constexpr const char* kTen = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";

TEST(SourceText, WithoutEditsIsAsItWas) {
  const SourceText file("x.c", kTen);
  EXPECT_FALSE(file.is_changed());
  EXPECT_EQ(file.text(), kTen);
  EXPECT_EQ(file.diff("x.c"), "");
}

TEST(SourceText, ADiffHasThreeLinesOfContext) {
  SourceText file("x.c", kTen);
  file.insert(5, 1, " five");
  EXPECT_EQ(file.diff("x.c"),
            "--- a/x.c\n+++ b/x.c\n"
            "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+5 five\n 6\n 7\n 8\n");
}

TEST(SourceText, LinesThatMoveAreCounted) {
  SourceText file("x.c", kTen);
  file.remove(2);
  file.insert_before(4, "two");
  EXPECT_EQ(file.diff("x.c"),
            "--- a/x.c\n+++ b/x.c\n"
            "@@ -1,7 +1,7 @@\n 1\n-2\n 3\n+two\n 4\n 5\n 6\n 7\n");
  EXPECT_EQ(file.text(), "1\n3\ntwo\n4\n5\n6\n7\n8\n9\n10\n");
}

TEST(SourceText, ALaterHunkBeginsBehindWhatAnEarlierOneHasAdded) {
  SourceText file("x.c", std::string(kTen) + kTen);
  file.insert_before(1, "zero");
  file.replace(18, 0, 1, "eighteen");
  EXPECT_THAT(file.diff("x.c"), testing::HasSubstr("@@ -1,4 +1,5 @@\n+zero\n 1\n"));
  EXPECT_THAT(file.diff("x.c"), testing::HasSubstr("@@ -15,6 +16,6 @@\n"));
}

TEST(SourceText, SeveralEditsOfALineKeepTheirColumns) {
  SourceText file("x.c", "a[i] = a[j];\n");
  file.insert(1, 4, ".value");
  file.insert(1, 11, ".value");
  file.insert(1, 11, ".value");
  EXPECT_EQ(file.text(), "a[i].value = a[j].value;\n") << "an edit that is asked for twice is made once";
}

TEST(SourceText, CommentsAndStringsAreNotCode) {
  const SourceText file("x.c", "int a; // struct b\n/* struct\nc */ int d = '\"';\nchar* e = \"struct \\\" f\"; int g;\n");
  EXPECT_EQ(file.code(1), "int a;            ");
  EXPECT_EQ(file.code(2), "         ");
  EXPECT_EQ(file.code(3), "     int d = ' ';");
  EXPECT_EQ(file.code(4), "char* e = \"           \"; int g;");
}

TEST(SourceText, AFileWithoutALastNewlineStaysSo) {
  SourceText file("x.c", "int a;");
  file.insert(1, 3, " long");
  EXPECT_EQ(file.text(), "int long a;");
  EXPECT_THAT(file.diff("x.c"), testing::EndsWith("+int long a;\n\\ No newline at end of file\n"));
}

}  // namespace
}  // namespace linebounce::sim
