#include "commands/advise/false_sharing.hpp"

#include <gmock/gmock.h>

#include "commands/advise/proposals.hpp"

namespace linebounce::sim {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

// Adjacent bytes of an object with their users, as the pass over the operations collects them.
PieceUse piece(std::uint32_t object, std::int64_t offset, std::vector<ThreadUse> threads, std::int64_t bytes = 8) {
  return {object, offset, bytes, std::move(threads)};
}

trace::Symbols symbols(const trace::Structure& structure, int objects = 1) {
  trace::Symbols out;
  out.define(structure);
  for (int i = 0; i < objects; ++i) {
    trace::Object object;
    object.name = structure.name + "[" + std::to_string(i) + "]";
    object.structure = 0;
    object.size = structure.size;
    out.define(object);
  }
  return out;
}

trace::Symbols array(std::int64_t size) {
  trace::Symbols out;
  trace::Object object;
  object.name = "counts";
  object.size = size;
  out.define(object);
  return out;
}

const trace::Structure kQueue = {"queue", 24, 8, {{"items", 0, 8}, {"head", 8, 8}, {"tail", 16, 8}}};

std::vector<FalselySharedLine> found(std::vector<PieceUse> pieces, const trace::Symbols& names) {
  return falsely_shared({{100, std::move(pieces)}}, names);
}

TEST(FalseSharing, ThreadsThatWriteBytesOfTheirOwnInOneLineAreFound) {
  const auto lines = found({piece(0, 0, {{1, 500, 500}}), piece(0, 8, {{2, 500, 500}})}, array(64));
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_EQ(lines[0].disturbed, 2000);
}

TEST(FalseSharing, AWordThatAllThreadsWriteIsTrueSharing) {
  EXPECT_THAT(found({piece(0, 0, {{1, 0, 500}, {2, 0, 500}}), piece(0, 8, {{1, 0, 300}, {2, 0, 400}})}, array(64)), IsEmpty());
}

// Over the whole run both threads write both slots. But a replay has shown that at any one time they use different slots.
TEST(FalseSharing, SlotsThatThreadsUseInTurnAreInEachOthersWayOnLinesThatAReplayNames) {
  const trace::Structure ring = {
      "ring", 32, 8, {{"[0].sequence", 0, 8}, {"[0].value", 8, 8}, {"[1].sequence", 16, 8}, {"[1].value", 24, 8}}};
  const std::vector<ThreadUse> both = {{1, 500, 500}, {2, 500, 500}};
  const std::vector<LineUsers> lines = {{100, {piece(0, 0, both), piece(0, 8, both), piece(0, 16, both), piece(0, 24, both)}}};
  const trace::Symbols names = symbols(ring);
  EXPECT_THAT(falsely_shared(lines, names), IsEmpty());
  EXPECT_THAT(falsely_shared(lines, names, {{99, 5000}, {100, 3}}), IsEmpty()) << "too few misses on this line";
  const auto shared = falsely_shared(lines, names, {{99, 5000}, {100, 5000}});
  ASSERT_THAT(shared, SizeIs(1));
  EXPECT_TRUE(shared[0].in_turn);
  EXPECT_EQ(shared[0].disturbed, 8000);
  EXPECT_FALSE(conflict(shared[0].pieces[0], shared[0].pieces[1])) << "of one slot";
  EXPECT_TRUE(conflict(shared[0].pieces[1], shared[0].pieces[2]));
  EXPECT_THAT(proposals(shared, names, 64)[0].sentence, HasSubstr("2 elements of 16 bytes"));
}

TEST(FalseSharing, AReadOnlyLineDisturbsNoThread) {
  EXPECT_THAT(found({piece(0, 0, {{1, 500, 0}}), piece(0, 8, {{2, 500, 0}, {3, 400, 0}})}, array(64)), IsEmpty());
}

TEST(FalseSharing, ReadersAreDisturbedByAWriterBesideThem) {
  EXPECT_THAT(found({piece(0, 0, {{1, 500, 0}, {2, 500, 1}}), piece(0, 8, {{3, 0, 100}})}, array(64)), SizeIs(1));
}

// One thread initialises all counters and adds them up in the end. Apart from that, each counter is used by its own thread
// only.
TEST(FalseSharing, SettingUpAndAddingUpDoNotCount) {
  const auto lines = found({piece(0, 0, {{0, 1, 1}, {1, 500, 500}}), piece(0, 8, {{0, 1, 1}, {2, 500, 500}})}, array(64));
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_EQ(lines[0].pieces[0].users, Users::one);
  EXPECT_EQ(lines[0].pieces[0].thread, 1U);
}

// Counters on separate lines are cleared together with the padding between them.
TEST(FalseSharing, ALineAccessedOnlyOnceDisturbsNoThread) {
  EXPECT_THAT(found({piece(0, 0, {{1, 500, 500}}), piece(0, 8, {{0, 0, 1}}), piece(0, 16, {{2, 1, 0}})}, array(64)), IsEmpty());
}

TEST(ElementSize, IsWhatSeparatesTheThreads) {
  const trace::Symbols names = array(64);
  // Each thread uses 16 bytes: a counter, and a flag in the second half of these.
  const auto line = found({piece(0, 0, {{1, 0, 9}}), piece(0, 8, {{1, 9, 0}}, 4), piece(0, 16, {{2, 0, 9}}),
                           piece(0, 24, {{2, 9, 0}}, 4), piece(0, 32, {{3, 0, 9}})},
                          names);
  const auto place = array_of(line[0].pieces[0], names);
  ASSERT_TRUE(place.has_value());
  EXPECT_EQ(element_bytes(*place, line[0].pieces), 16);
}

TEST(ElementSize, CutsNoAccess) {
  const trace::Symbols names = array(24);
  const auto line = found({piece(0, 0, {{1, 0, 9}}, 8), piece(0, 12, {{2, 0, 9}}, 4)}, names);
  EXPECT_EQ(element_bytes({"", 0, 24}, line[0].pieces), 12);
  const auto cut = found({piece(0, 0, {{1, 0, 9}}, 8), piece(0, 8, {{2, 0, 9}}, 8), piece(0, 20, {{1, 0, 9}}, 4)}, names);
  EXPECT_EQ(element_bytes({"", 0, 24}, cut[0].pieces), std::nullopt) << "4 would cut the first access";
}

// Rows of 96 bytes on lines of 64: one whole line of each row belongs to a single thread, and is not shared. A run of
// accesses that comes first on its line may have begun on the line before: of the row from 0 to 96 only the part from 64 on
// is seen, of the row from 192 to 288 the part from 256 on.
TEST(ElementSize, ARunThatIsFirstOnItsLineSaysNothingOfWhereItBegan) {
  const trace::Symbols names = array(384);
  const auto lines = falsely_shared({{101, {piece(0, 64, {{1, 0, 9}}, 32), piece(0, 96, {{2, 0, 9}}, 32)}},
                                     {104, {piece(0, 256, {{3, 0, 9}}, 32), piece(0, 288, {{4, 0, 9}}, 32)}}},
                                    names);
  std::vector<Piece> pieces = lines[0].pieces;
  pieces.insert(pieces.end(), lines[1].pieces.begin(), lines[1].pieces.end());
  EXPECT_EQ(element_bytes({"", 0, 384}, pieces), 96);
}

// Rows of 40 bytes in a block that begins 48 bytes into a line. Only the block's first 16 bytes are on that line.
TEST(ElementSize, RowsOfABlockThatBeginsWithinALineAreWholeRows) {
  const trace::Symbols names = array(160);
  const auto lines = falsely_shared({{101, {piece(0, 16, {{1, 0, 9}}, 24), piece(0, 40, {{2, 0, 9}}, 40)}},
                                     {102, {piece(0, 80, {{3, 0, 9}}, 40), piece(0, 120, {{4, 0, 9}}, 24)}}},
                                    names);
  std::vector<Piece> pieces = lines[0].pieces;
  pieces.insert(pieces.end(), lines[1].pieces.begin(), lines[1].pieces.end());
  EXPECT_EQ(element_bytes({"", 0, 160}, pieces), 40);
}

// Rows of 96 bytes, of which only the second and third share a line. Nothing shows whether 0 to 192 is one element.
TEST(ElementSize, OneRunTellsNoElementThatIsLargerThanWhatItSeparates) {
  const trace::Symbols names = array(384);
  const auto line = found({piece(0, 160, {{1, 0, 9}}, 32), piece(0, 192, {{2, 0, 9}}, 32)}, names);
  EXPECT_EQ(element_bytes({"", 0, 384}, line[0].pieces), 32);
}

// Each thread uses the second half of its 16 bytes, so no run begins where the array begins.
TEST(ElementSize, ElementsMayBeginWithWhatNobodyUses) {
  const trace::Symbols names = array(64);
  const auto line = found({piece(0, 8, {{1, 0, 9}}), piece(0, 24, {{2, 0, 9}}), piece(0, 40, {{3, 0, 9}})}, names);
  EXPECT_EQ(element_bytes({"", 0, 64}, line[0].pieces), 16);
}

TEST(ElementSize, NumberedFieldsHavePaddingBehindTheLastOne) {
  const trace::Structure slots = {"pool", 28, 8, {{"s[0].a", 0, 8}, {"s[0].b", 8, 4}, {"s[1].a", 16, 8}, {"s[1].b", 24, 4}}};
  const trace::Symbols names = symbols(slots);
  const auto line = found({piece(0, 0, {{1, 0, 9}}), piece(0, 24, {{2, 0, 9}}, 4)}, names);
  const auto place = array_of(line[0].pieces[0], names);
  ASSERT_TRUE(place.has_value());
  EXPECT_EQ(place->size, 32);
}

TEST(Proposals, AnArrayWithoutFieldsIsSpread) {
  const trace::Symbols names = array(64);
  const auto all = proposals(found({piece(0, 0, {{1, 0, 9}}), piece(0, 8, {{2, 0, 9}})}, names), names, 64);
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(all[0].change, "[[layout.change]]\nelement_bytes = 8\nname = \"counts\"\nstructure = \"counts\"\n");
  EXPECT_THAT(all[0].sentence, HasSubstr("8 elements of 8 bytes"));
  EXPECT_THAT(all[0].drawing,
              HasSubstr("struct element { char bytes[8]; } __attribute__((aligned(64)));\nstruct element counts[8];"));
}

TEST(Proposals, WrittenFieldsLeaveTheLineOfWhatIsRead) {
  const trace::Symbols names = symbols(kQueue);
  const auto lines =
      found({piece(0, 0, {{1, 500, 0}, {2, 500, 0}}), piece(0, 8, {{1, 0, 500}}), piece(0, 16, {{2, 0, 500}})}, names);
  const auto all = proposals(lines, names, 64);
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_THAT(all[0].change, HasSubstr("split = [[\"head\"], [\"tail\"]]\n"));
  EXPECT_THAT(all[0].sentence, HasSubstr("move head of queue to a cache line of its own"));
  EXPECT_THAT(all[0].drawing, HasSubstr("  head __attribute__((aligned(64)));"));
}

TEST(Proposals, FieldsOfOneThreadStayTogether) {
  const trace::Symbols names = symbols(kQueue);
  const auto lines = found({piece(0, 0, {{1, 500, 1}}), piece(0, 8, {{1, 0, 500}}), piece(0, 16, {{2, 0, 500}})}, names);
  EXPECT_THAT(proposals(lines, names, 64).at(0).change, HasSubstr("split = [[\"tail\"]]\n"));
}

TEST(Proposals, ObjectsInOneLineAreAligned) {
  const trace::Symbols names = symbols(kQueue, 2);
  const auto lines = found({piece(0, 16, {{1, 0, 500}}), piece(1, 0, {{2, 0, 500}})}, names);
  const auto all = proposals(lines, names, 64);
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_THAT(all[0].change, HasSubstr("align_bytes = 64\n"));
  EXPECT_THAT(all[0].change, Not(HasSubstr("split")));
}

// An array of pointers as a recorder describes it: its elements are numbered, and the source has no structure for it.
TEST(Proposals, AnArrayThatIsReadBesideAWriterIsDrawnAsAVariable) {
  trace::Symbols names = symbols({"nodes", 32, 8, {{"[0]", 0, 8}, {"[1]", 8, 8}}});
  trace::Object total;
  total.name = "total";
  total.size = 8;
  names.define(total);
  const auto lines = found({piece(0, 0, {{1, 500, 0}}), piece(0, 8, {{2, 500, 0}}), piece(1, 0, {{3, 500, 500}})}, names);
  const auto all = proposals(lines, names, 64);
  ASSERT_THAT(all, SizeIs(2));
  for (const Proposal& proposal : all) {
    EXPECT_EQ(proposal.drawing, proposal.structure + " __attribute__((aligned(64)));\n");
    EXPECT_THAT(proposal.sentence, HasSubstr("give `" + proposal.structure + "` a cache line of its own"));
  }
}

TEST(Proposals, AFieldThatIsAnArrayIsSpreadAndTheOthersStay) {
  const trace::Structure table = {"table", 40, 8, {{"size", 0, 8}, {"hits", 8, 32}}};
  const trace::Symbols names = symbols(table);
  const auto lines = found(
      {piece(0, 0, {{1, 90, 0}, {2, 90, 0}}), piece(0, 8, {{1, 0, 9}}), piece(0, 16, {{2, 0, 9}}), piece(0, 24, {{3, 0, 9}})},
      names);
  const auto all = proposals(lines, names, 64);
  EXPECT_EQ(all.at(0).change,
            "[[layout.change]]\nelement_bytes = 8\nname = \"table\"\nspread = [\"hits\"]\nstructure = \"table\"\n");
}

}  // namespace
}  // namespace linebounce::sim
