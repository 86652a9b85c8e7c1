// The listings of compilers, JOL and structlayout.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/types/listings.hpp"
#include "tests/types/sample_listings.hpp"

namespace linebounce::types {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ClangLayouts, HaveBasesBitFieldsAndArrays) {
  const Listing listing = listing_of(kClangRecords);
  EXPECT_THAT(doubts_of(listing), IsEmpty());
  const Type* const job = structure_in(listing, "app::Job");
  ASSERT_NE(job, nullptr);
  EXPECT_THAT(members_of(*job), ElementsAre("app::Base@0+12", "kind@12:0/3", "-@12+0", "parts@16+32", "call@48+8",
                                            "calls@56+16", "none@72+0", "-@72+4", "tail@80+0"));
  EXPECT_THAT(members_of(*job->members[7].type), ElementsAre("number@0+4", "value@0+4"));
}

TEST(ClangLayouts, AMemberOfUnknownSizeIsUnexplained) {
  const Listing listing = listing_of(R"(
*** Dumping AST Record Layout
         0 | struct app::Job
         0 |   enum app::Kind kind
         8 |   long count
           | [sizeof=16, dsize=16, align=8,
           |  nvsize=16, nvalign=8]

*** Dumping AST Record Layout
         0 | struct app::Counter
         0 |   app::Counter::word value
           | [sizeof=8, dsize=8, align=8,
           |  nvsize=8, nvalign=8]
)");
  EXPECT_THAT(doubts_of(listing), ElementsAre("app::Job: bytes 1 to 7"));
  EXPECT_THAT(members_of(*structure_in(listing, "app::Counter")), ElementsAre("value@0+8")) << "its alignment leaves one size";
}

TEST(ClangLayouts, TheSimpleFormHasOffsetsAlone) {
  const Listing listing = listing_of(kClangSimpleRecords);
  ASSERT_EQ(listing.structures.size(), 1U);
  EXPECT_THAT(members_of(*listing.structures[0]), ElementsAre("#0@0+1", "#1@8+1"));
  EXPECT_THAT(doubts_of(listing), ElementsAre("job: bytes 1 to 7 and 9 to 15"));
}

TEST(GccClasses, HaveBasesAndPointersToVtablesAndNoMembers) {
  const Listing listing = listing_of(kGccClasses);
  EXPECT_THAT(members_of(*structure_in(listing, "app::Job")), ElementsAre("_vptr@0+8", "app::Base@24+12"));
  EXPECT_THAT(doubts_of(listing), ElementsAre("app::Base: bytes 8 to 15", "app::Job: bytes 8 to 23 and 36 to 39"));
}

TEST(JolListing, HasTheHeaderBasesAndGaps) {
  const Listing listing = listing_of(kJolObjects);
  EXPECT_THAT(members_of(*structure_in(listing, "app.Job")),
              ElementsAre("header.mark@0+8", "Base.kind@8+1", "-@9+3", "next@12+4", "data@16+8"));
  EXPECT_THAT(members_of(*structure_in(listing, "app.Old")),
              ElementsAre("header.0@0+4", "header.1@4+4", "header.2@8+4", "flag@12+1", "-@13+3"));
  EXPECT_THAT(doubts_of(listing), ElementsAre("app.Cut: line 27: the text is cut off: expected its instance size"));
}

TEST(Structlayout, HasPaddingAndBlankMembersAsGaps) {
  const Listing listing = listing_of(kStructlayout);
  ASSERT_EQ(listing.structures.size(), 1U);
  EXPECT_THAT(members_of(*listing.structures[0]), ElementsAre("mu.state@0+4", "_@4+4", "ok@8+1", "-@9+3"));
  EXPECT_EQ(listing.structures[0]->alignment, 4);
  EXPECT_EQ(bytes_of(*listing.structures[0])[1].use, ByteUse::gap);
  EXPECT_THAT(doubts_of(listing), ElementsAre("Box: the size of value is open: it is a type parameter"));
}

}  // namespace
}  // namespace linebounce::types
