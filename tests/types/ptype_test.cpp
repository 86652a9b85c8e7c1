// What gdb's ptype /o prints.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/types/listings.hpp"

namespace linebounce::types {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(PtypeListing, OfRustHasMembersTuplesAndVariants) {
  const Listing listing = listing_of(R"(/* offset      |    size */  type = struct app::Entry {
/*      0      |       8 */    key: u64,
/*      8      |       4 */    parts: (u8, u16),
/*     12      |       1 */    kind: u8,
/*     13      |       0 */    none: (),
/* XXX  3-byte padding   */

                               /* total size (bytes):   16 */
                             }
/* offset      |    size */  type = struct app::Pair (
/*      0      |       4 */    u32,
/*      4      |       1 */    u8,
/* XXX  3-byte padding   */

                               /* total size (bytes):    8 */
                             )
/* offset      |    size */  type = enum app::Event {
/*      0      |      16 */    Key (
/*      1      |       1 */        u8,
/* XXX  6-byte hole      */
/*      8      |       8 */        u64,

                                   /* total size (bytes):   16 */
                               ),
/*      0      |      16 */    Quit,

                               /* total size (bytes):   16 */
                             }
)");
  EXPECT_THAT(doubts_of(listing), IsEmpty());
  ASSERT_EQ(listing.structures.size(), 3U);
  EXPECT_THAT(members_of(*listing.structures[0]), ElementsAre("key@0+8", "parts@8+4", "kind@12+1", "none@13+0"));
  EXPECT_THAT(members_of(*listing.structures[1]), ElementsAre("__0@0+4", "__1@4+1"));
  const Type& event = *listing.structures[2];
  EXPECT_EQ(event.members[1].name, "Quit");
  EXPECT_EQ(event.members[1].kind, MemberKind::variant);
  EXPECT_THAT(members_of(*event.members[0].type), ElementsAre("__0@1+1", "__1@8+8"));
}

TEST(PtypeListing, BasesArePlacesThatGdbDoesNotTell) {
  const Listing listing = listing_of(R"(/* offset      |    size */  type = struct app::Job : public app::Base {
/*     24      |       4 */    int count;
/* XXX  4-byte padding   */

                               /* total size (bytes):   32 */
                             }
/* offset      |    size */  type = class app::Cell<int> [with T = int] : public app::Empty {
                             private:
/*      0      |       4 */    T value;

                               /* total size (bytes):    4 */
                             }
/* offset      |    size */  type = class app::Shape {
                             public:
/*      8      |       4 */    int sides;
/* XXX  4-byte padding   */

                               /* total size (bytes):   16 */
                             }
/* offset      |    size */  type = struct app::Holder {
/*      0      |       8 */    class std::unique_ptr<int> : private std::base<int> {

                                   /* total size (bytes):    8 */
                               } owner;
/*      8      |       0 */    decltype(nullptr) none;

                               /* total size (bytes):   16 */
                             }
)");
  EXPECT_THAT(doubts_of(listing), ElementsAre("app::Job: bytes 0 to 23 and 28 to 31"));
  EXPECT_EQ(structure_in(listing, "app::Cell<int>")->members.back().type->name, "int");
  EXPECT_THAT(members_of(*structure_in(listing, "app::Shape")), ElementsAre("_vptr@0+8", "sides@8+4"));
  EXPECT_THAT(members_of(*structure_in(listing, "app::Holder")), ElementsAre("owner@0+8", "none@8+8"));
}

TEST(PtypeListing, AStructureThatIsCutOffDoesNotStopTheOthers) {
  const Listing listing = listing_of(R"(/* offset      |    size */  type = struct cut {
/*      0      |       4 */    int count;
/* offset      |    size */  type = struct whole {
/*      0: 0   |       4 */    unsigned int kind : 3;
/* XXX  5-bit hole       */
/*      4      |      24 */    int (*calls[3])(int);

                               /* total size (bytes):   28 */
                             }
)");
  ASSERT_EQ(listing.structures.size(), 1U);
  EXPECT_THAT(members_of(*listing.structures[0]), ElementsAre("kind@0:0/3", "calls@4+24"));
  EXPECT_EQ(listing.structures[0]->members[1].type->elements, 3);
  EXPECT_THAT(doubts_of(listing), ElementsAre("cut: the text is cut off in it"));
}

}  // namespace
}  // namespace linebounce::types
