// Listings of pahole before 2019 and of gdb before version 9, which count the bits of a unit from the other end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/types/listings.hpp"

namespace linebounce::types {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(BitNumbering, NumbersThatFallWhileMembersGoOnCountFromTheTop) {
  const Listing listing = listing_of(R"(struct job {
	unsigned int               kind:4;               /*     0:28  4 */
	unsigned int               age:7;                /*     0:21  4 */

	/* XXX 21 bits hole, try to pack */

	long int                   count;                /*     8     8 */
	unsigned char              last:1;               /*    16: 7  1 */

	/* size: 24, cachelines: 1, members: 4 */
	/* bit holes: 1, sum bit holes: 21 bits */
	/* padding: 7 */
};
)");
  EXPECT_THAT(members_of(*structure_in(listing, "job")), ElementsAre("kind@0:0/4", "age@0:4/7", "count@8+8", "last@16:0/1"));
}

TEST(BitNumbering, TheHolesThatAListingStatesDecideAboutSingleBitFields) {
  const Listing from_top = listing_of(R"(struct job {
	unsigned int               kind:4;               /*     0:28  4 */

	/* XXX 28 bits hole, try to pack */

	int                        count;                /*     4     4 */

	/* size: 8, cachelines: 1, members: 2 */
};
)");
  EXPECT_THAT(members_of(*from_top.structures[0]), ElementsAre("kind@0:0/4", "count@4+4"));
  const Listing from_bottom = listing_of(R"(struct job {

	/* XXX 28 bits hole, try to pack */

	unsigned int               kind:4;               /*     0:28  4 */
	int                        count;                /*     4     4 */

	/* size: 8, cachelines: 1, members: 2 */
};
)");
  EXPECT_THAT(members_of(*from_bottom.structures[0]), ElementsAre("kind@3:4/4", "count@4+4"));
}

TEST(BitNumbering, AUnitSharedWithAMemberCountsFromTheBottom) {
  const Listing listing = listing_of(R"(struct hook {
	unsigned char              family;               /*     0     1 */

	/* Bitfield combined with previous fields */

	enum hook_kind             kind:8;               /*     0: 8  2 */

	/* XXX 16 bits hole, try to pack */

	unsigned int               number;               /*     4     4 */

	/* size: 8, cachelines: 1, members: 3 */
};
)");
  EXPECT_THAT(members_of(*listing.structures[0]), ElementsAre("family@0+1", "kind@1:0/8", "number@4+4"));
  EXPECT_THAT(doubts_of(listing), IsEmpty());
}

TEST(BitNumbering, ThatCannotBeKnownLeavesTheUnitUnexplained) {
  const Listing listing = listing_of(R"(struct job {
	unsigned int               kind:4;               /*     0:10  4 */
	int                        count;                /*     4     4 */

	/* size: 8, cachelines: 1, members: 2 */
};
)");
  EXPECT_THAT(doubts_of(listing), ElementsAre("job: bytes 0 and 2 to 3"));
}

TEST(BitNumbering, OfGdbBeforeVersion9CountsFromTheTop) {
  const Listing listing = listing_of(R"((gdb) ptype /o struct frame
/* offset    |  size */  type = struct frame {
/*    0: 6   |     1 */    unsigned char open : 2;
/* XXX  6-bit hole   */
/*    4      |     8 */    struct part {
/*    4      |     4 */        unsigned int words;
/*    8:28   |     4 */        unsigned int level : 4;
/*    8:25   |     4 */        unsigned int kind : 3;

                               /* total size (bytes):    8 */
                           } part;

                           /* total size (bytes):   12 */
                         }
)");
  const Type& frame = *listing.structures[0];
  EXPECT_THAT(members_of(frame), ElementsAre("open@0:0/2", "part@4+8"));
  EXPECT_THAT(members_of(*frame.members[1].type), ElementsAre("words@0+4", "level@4:0/4", "kind@4:4/3"));
}

}  // namespace
}  // namespace linebounce::types
