// Listings as people pass them on: in comments of a source, with notes, with lines left out, and without what stood around.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/types/listings.hpp"

namespace linebounce::types {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(RetypedListings, LoseTheMarksOfAComment) {
  const Listing records = listing_of(unquoted(R"(// *** Dumping AST Record Layout
//         0 | struct date
//     0:0-4 |   unsigned char day
//         2 |   unsigned short year
//           | [sizeof=4, align=2]
struct date;
)"));
  EXPECT_THAT(members_of(*structure_in(records, "date")), ElementsAre("day@0:0/5", "year@2+2"));

  const Listing classes = listing_of(unquoted(R"(int i;
// Class Shape
//    size=16 align=8
//    base size=12 base align=8
// Shape (0x0x7f10) 0
//     vptr=((& Shape::_ZTV5Shape) + 16)
)"));
  EXPECT_THAT(members_of(*structure_in(classes, "Shape")), ElementsAre("_vptr@0+8"));

  const Listing objects = listing_of(unquoted(R"(/**
 * app.Lock object internals:
 * OFF  SZ   TYPE DESCRIPTION               VALUE
 *   0   8        (object header: mark)     0x1
 *   8   4        (object header: class)    0x2
 *       // the class needs four bytes
 *  12   4    int Lock.depth                0
 * Instance size: 16 bytes  // in all
 */
)"));
  EXPECT_THAT(members_of(*structure_in(objects, "app.Lock")), ElementsAre("header.mark@0+8", "header.class@8+4", "depth@12+4"));

  const Listing types = listing_of(unquoted(R"(; CHECK-BTF:      [1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
; CHECK-BTF-NEXT: [2] STRUCT 'pair' size=8 vlen=2
; CHECK-BTF-NEXT: 	'a' type_id=1 bits_offset=0
; CHECK-BTF-NEXT: 	'b' type_id=1 bits_offset=32
)"));
  EXPECT_THAT(members_of(*structure_in(types, "pair")), ElementsAre("a@0+4", "b@4+4"));
}

TEST(RetypedListings, OfPaholeMayHaveNotesAndAPrompt) {
  const Listing listing = listing_of(R"($ pahole prog job
/* <11b> /src/job.c:3 */
struct job {
	int                        refs;                 /*     0     4 */

	/* XXX 4 bytes hole, try to pack */	<=== here

	// the lock's own line would be better
	long int                   lock;                 /*     8     8 */  // hot

	/* size: 16, cachelines: 1, members: 2 */		<===
	/* sum members: 12, holes: 1, sum holes: 4 */
};
)");
  EXPECT_THAT(doubts_of(listing), IsEmpty());
  EXPECT_THAT(members_of(*structure_in(listing, "job")), ElementsAre("refs@0+4", "lock@8+8"));
}

TEST(RetypedListings, OfEarlyPaholeHaveTheSizeBehindTheBrace) {
  const Listing listing = listing_of(R"(struct cheese {
char name[5]; /* 0 5 */
/* XXX 3 bytes hole, try to pack */
int  b; /* 8 4 */
char c; /* 12 1 */
}; /* size: 16, cachelines: 1 */
   /* sum members: 10, holes: 1, sum holes: 3 */
   /* padding: 3 */
)");
  EXPECT_THAT(doubts_of(listing), IsEmpty());
  EXPECT_THAT(members_of(*structure_in(listing, "cheese")), ElementsAre("name@0+5", "b@8+4", "c@12+1"));
}

TEST(PaholeListing, GapsBesideAMemberWithoutBytesAreBothStated) {
  const Listing listing = listing_of(R"(struct map {
	int                        lock;                 /*     0     4 */

	/* XXX 4 bytes hole, try to pack */

	struct sock *              slots[];              /*     8     0 */

	/* size: 64, cachelines: 1, members: 2 */
	/* sum members: 4, holes: 1, sum holes: 4 */
	/* padding: 56 */
} __attribute__((__aligned__(64)));
)");
  EXPECT_THAT(doubts_of(listing), IsEmpty());
}

TEST(RetypedListings, OfPaholeWithoutSomeLinesAreNotTakenForWhole) {
  const Listing listing = listing_of(R"(struct left_out {
	long int                   first;                /*     0     8 */
...
	int                        last;                 /*    12     4 */

	/* size: 16, cachelines: 1, members: 3 */
};
struct of_two {
	long int                   first;                /*     0     8 */
	int                        other;                /*     0     4 */

	/* size: 8, cachelines: 1, members: 1 */
};
struct unfinished {
	int                        a;                    /*     0     4 */

	/* size: 4, cachelines: 1, members: 1 */

struct whole {
	int                        a;                    /*     0     4 */

	/* size: 4, cachelines: 1, members: 1 */
};
)");
  EXPECT_THAT(doubts_of(listing),
              ElementsAre("left_out: bytes 8 to 11", "of_two: line 12: 1 members are stated, and 2 are listed",
                          "unfinished: line 19: the text is cut off in it: expected `}`"));
  EXPECT_NE(structure_in(listing, "whole"), nullptr);
}

TEST(RetypedListings, ManyStructuresThatCannotBeReadDoNotStopTheOthers) {
  std::string text;
  for (int i = 0; i < 80; ++i)
    text += "struct bad_" + std::to_string(i) + " {\n\tint a;\n\n\t/* size: 4, cachelines: 1, members: 1 */\n};\n";
  text +=
      "struct good {\n\tint                        a;                    /*     0     4 */\n\n"
      "\t/* size: 4, cachelines: 1, members: 1 */\n};\n";
  const Listing listing = listing_of(text);
  EXPECT_NE(structure_in(listing, "good"), nullptr);
  EXPECT_EQ(listing.unread.size(), 80U);
}

TEST(RetypedListings, OfGdbWithoutSomeLinesHaveUnexplainedBytes) {
  const Listing listing = listing_of(R"(/* offset    |  size */  type = struct filter {
/*    0      |     4 */    int refs;
/* XXX  4-byte hole  */
/*    8      |     8 */    struct filter *prev;
[...]
/*   24      |    16 */    struct cache {
/*   24      |     4 */        int first;
/*   36      |     4 */        int last;

                               /* total size (bytes):   16 */
                           } cache;

                           /* total size (bytes):   64 */
                         }
)");
  EXPECT_THAT(doubts_of(listing), ElementsAre("filter: bytes 16 to 23, 28 to 35 and 40 to 63"));
}

TEST(RetypedListings, OfOneRecordOfClangHaveTheMembersOfItsBases) {
  const Listing listing = listing_of(R"(*** Dumping AST Record Layout
         0 | struct Derived
         0 |   struct Base (primary base)
         0 |     (Base vtable pointer)
         8 |     int a
        16 |   struct Other (virtual base)
        16 |     (Other vtable pointer)
        24 |     int a
           | [sizeof=32, dsize=28, align=8,
           |  nvsize=12, nvalign=8]
)");
  EXPECT_THAT(doubts_of(listing), IsEmpty());
  EXPECT_THAT(members_of(*listing.structures[0]),
              ElementsAre("Base::_vptr@0+8", "Base::a@8+4", "Other::_vptr@16+8", "Other::a@24+4"));
}

TEST(RetypedListings, OfProgramsOf32BitsHaveTheirPointersSize) {
  const Listing records = listing_of(R"(*** Dumping AST Record Layout
         0 | struct Job
         0 |   (Job vftable pointer)
         4 |   char * name
         8 |   long count
        12 |   int left
           | [sizeof=16, align=4,
           |  nvsize=16, nvalign=4]
)");
  EXPECT_THAT(members_of(*records.structures[0]), ElementsAre("_vptr@0+4", "name@4+4", "count@8+4", "left@12+4"));
  const Listing classes = listing_of(R"(Class Job
   size=8 align=4
   base size=8 base align=4
Job (0x0x4cf1738) 0
    vptr=((& Job::_ZTV3Job) + 8u)
)");
  EXPECT_THAT(members_of(*classes.structures[0]), ElementsAre("_vptr@0+4"));
  EXPECT_EQ(classes.structures[0]->alignment, 4);
}

TEST(RetypedListings, ThatAreCutOffAreRefused) {
  EXPECT_THAT(refusal_of("[1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED\n[2] PTR '(anon)' type_id=1\n"),
              HasSubstr("it has no structure"));
  EXPECT_THAT(refusal_of("struct job {\n\tint   a;    /*     0     4 */\n\tlong  b; /*  8  8 */\n"),
              HasSubstr("cut off in job"));
  const Listing listing = listing_of(R"(*** Dumping AST Record Layout
         0 | struct cut
         0 |   char c
)");
  EXPECT_THAT(doubts_of(listing), ElementsAre(HasSubstr("cut off")));
}

}  // namespace
}  // namespace linebounce::types
