#include "sim/terminal/table.hpp"

#include <gtest/gtest.h>

namespace linebounce::sim {
namespace {

const Painter kNarrow(false, 40, 30);

TEST(Table, ColumnsAreAsWideAsTheirWidestCellAndCountCharacters) {
  Table table({words("lock"), figures("µs", 6), words("", 0, 2)}, kNarrow);
  table.add_rule();
  table.add({"ticket", "1.5", "spins"});
  table.add({"größer", "12"});
  EXPECT_EQ(table.text(),
            "  lock      µs\n"
            "  ───────────────────\n"
            "  ticket   1.5  spins\n"
            "  größer    12\n");
}

TEST(Table, TheLongestNamesAreBrokenToWhatThereIsRoomFor) {
  Table table({names(""), names("", 0, 1), figures("", 10)}, kNarrow);
  table.add({"a_very_long_structure", "short", "1"});
  EXPECT_EQ(table.text(),
            "  a_very_long_ short         1\n"
            "  structure\n");
}

TEST(Table, ALongTextMovesWhatFollowsAndALongFigureBeginsEarlier) {
  Table table({words("", 4), figures("", 4), figures("", 4)}, kNarrow);
  table.add({"longer", "1", "2"});
  table.add({"", "", "123456"});
  EXPECT_EQ(table.text(),
            "  longer 1   2\n"
            "        123456\n");
}

TEST(Table, ProseIsBrokenIntoLinesBelowItsColumn) {
  const Painter narrow(false, 20);
  Table table({words("", 6), prose("")}, narrow);
  table.add({"order", "first come first served"});
  table.add({"a long label", "below it"});
  EXPECT_EQ(table.text(),
            "  order first come\n"
            "        first served\n"
            "  a long label\n"
            "        below it\n");
}

TEST(Table, OnlyTheTextOfACellIsPainted) {
  const Painter coloured(true, 40);
  Table table({words("", 4), figures("", 4)}, coloured);
  table.add({{"ab", Colour::bold}, {"1", Colour::red}});
  EXPECT_EQ(table.text(), "  \x1b[1mab\x1b[0m     \x1b[31m1\x1b[0m\n");
}

}  // namespace
}  // namespace linebounce::sim
