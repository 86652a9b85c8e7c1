// Recognises listings of structures. Each example is output of the tool that it names.
#include "models/text/structure_listing.hpp"

#include <gtest/gtest.h>

namespace linebounce {
namespace {

// The figures stand in a comment behind the member, anywhere in the line.
TEST(StructureListing, OfPaholeHasFiguresBehindItsMembers) {
  EXPECT_TRUE(is_structure_listing("struct job {\n\tint                        state;                /*     0     4 */\n};\n"));
  EXPECT_TRUE(is_structure_listing("struct job {\n\tint                        state;                /*     0   0x4 */\n};\n"))
      << "pahole --hex";
  EXPECT_TRUE(is_structure_listing("> struct job {\n>   int state; /* 0 4 */\n> };\n")) << "quoted in a mail";
}

TEST(StructureListing, IsNoSourceTextWithCommentsOfOtherKinds) {
  EXPECT_FALSE(is_structure_listing("struct job {\n\tint state;\n};\n"));
  EXPECT_FALSE(is_structure_listing("struct job {\n\tint state; /* 4 states */\n};\n"));
  EXPECT_FALSE(is_structure_listing("struct job {\n\tint state; /* : */\n};\n")) << "no figure";
  EXPECT_FALSE(is_structure_listing("struct job {\n\tint state; /*/\n};\n")) << "a comment that is not closed";
  EXPECT_FALSE(is_structure_listing("\tint state; /* 0 4 */\n")) << "no structure";
}

TEST(StructureListing, OfGdbHasAHeadThatNamesItsColumns) {
  EXPECT_TRUE(
      is_ptype_listing("/* offset      |    size */  type = struct job {\n/*      0      |       4 */    int state;\n"));
  EXPECT_FALSE(is_ptype_listing("type = struct job {\n    int state;\n"));
}

TEST(StructureListing, OfBpftoolNumbersItsTypes) {
  EXPECT_TRUE(
      is_btf_listing("[1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED\n[7] STRUCT 'job' size=64 vlen=1\n"));
  EXPECT_TRUE(is_btf_listing(R"({"types":[{"id":7,"kind":"STRUCT","name":"job","size":64,"vlen":0,"members":[]}]})"));
  EXPECT_FALSE(is_btf_listing("[7] struct 'job'\n"));
  EXPECT_FALSE(is_btf_listing("[] STRUCT 'job'\n"));
}

}  // namespace
}  // namespace linebounce
