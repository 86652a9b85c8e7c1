// The listings of pahole, with what its versions and languages print.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/types/listings.hpp"

namespace linebounce::types {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

TEST(PaholeListing, BitFieldsOfAPackedStructureMayReachOverTheirUnit) {
  const Listing listing = listing_of(R"(struct entry {
	char                       tag;                  /*     0     1 */
	int                        key;                  /*     1     4 */

	/* Bitfield combined with next fields */

	unsigned int               state:4;              /*     4: 8  4 */
	unsigned int               age:13;               /*     4:12  4 */

	/* XXX 7 bits hole, try to pack */

	/* size: 8, cachelines: 1, members: 4 */
	/* last cacheline: 8 bytes */
} __attribute__((__packed__));
)");
  ASSERT_EQ(listing.structures.size(), 1U);
  EXPECT_THAT(members_of(*listing.structures[0]), ElementsAre("tag@0+1", "key@1+4", "state@5:0/4", "age@5:4/13"));
  EXPECT_EQ(listing.structures[0]->alignment, 1);
  EXPECT_THAT(doubts_of(listing), IsEmpty());
}

TEST(PaholeListing, AStructureThatCannotBeReadDoesNotStopTheOthers) {
  const Listing listing = listing_of(R"(struct marker {

	/* size: 0, cachelines: 0, members: 0 */
};
struct broken {
	int                        a;                    /*     0     4 */
	long                       b
	/* size: 16, cachelines: 1, members: 2 */
};
struct task {
	long int                   ticks;                /*     0     8 */

	/* size: 8, cachelines: 1, members: 1 */
};
)");
  ASSERT_EQ(listing.structures.size(), 1U);
  EXPECT_THAT(members_of(*listing.structures[0]), ElementsAre("ticks@0+8"));
  ASSERT_EQ(listing.unread.size(), 2U);
  EXPECT_EQ(listing.unread[0].name, "broken");
  EXPECT_THAT(listing.unread[0].why, HasSubstr("line 7: expected a member or `}`, found long"));
  EXPECT_EQ(listing.unread[1].name, "marker");
  EXPECT_EQ(listing.unread[1].why, "has no bytes");
}

TEST(PaholeListing, MembersInRustAreNotInTheirOrderAndAnEnumHasVariants) {
  const Listing listing = listing_of(R"(struct Point {

	/* XXX 8 bytes hole, try to pack */
public:


	u8                         kind __attribute__((__aligned__(1))); /*     8     1 */

	/* XXX 65527 bytes hole, try to pack */
	/* Bitfield combined with previous fields */

	u64                        at __attribute__((__aligned__(8))); /*     0     8 */

	/* size: 16, cachelines: 1, members: 2 */
	/* padding: 8 */
} __attribute__((__aligned__(8)));
struct Event {
	struct Key {

		/* XXX 1 byte hole, try to pack */
	public:


		u8                         __0 __attribute__((__aligned__(1))); /*     1     1 */

		/* size: 8, cachelines: 1, members: 1 */
	} __attribute__((__aligned__(4)));

	struct Move {

		/* XXX 4 bytes hole, try to pack */
	public:


		u32                        x __attribute__((__aligned__(4))); /*     4     4 */

		/* size: 8, cachelines: 1, members: 1 */
	} __attribute__((__aligned__(4)));


	/* size: 8, cachelines: 1, members: 0 */
	/* padding: 8 */
} __attribute__((__aligned__(4)));
struct {closure_env#0} {
	struct (u8, &[u8])         pair __attribute__((__aligned__(8))); /*     0    24 */

	/* size: 24, cachelines: 1, members: 1 */
} __attribute__((__aligned__(8)));
)");
  EXPECT_THAT(doubts_of(listing), IsEmpty());
  ASSERT_EQ(listing.structures.size(), 3U);
  EXPECT_THAT(members_of(*listing.structures[0]), ElementsAre("kind@8+1", "at@0+8"));
  const Type& event = *listing.structures[1];
  ASSERT_GE(event.members.size(), 2U);
  EXPECT_EQ(event.members[0].kind, MemberKind::variant);
  EXPECT_THAT(members_of(*event.members[1].type), ElementsAre("x@4+4"));
  EXPECT_EQ(listing.structures[2]->name, "{closure_env#0}");
}

TEST(PaholeListing, FiguresThatCannotBeTheMembersAreUnexplained) {
  const Listing listing = listing_of(R"(struct Odd {
	void                       none;                 /*     0 3233650288 */

	/* XXX 27032 bytes hole, try to pack */

	int Base::*                member;               /*     8     4 */

	/* XXX 4 bytes hole, try to pack */

	void ()(struct Base *) Base::* method;           /*    16   923 */
	                           other;                /*    32     4 */

	/* XXX 4 bytes hole, try to pack */

	/* size: 40, cachelines: 1, members: 4 */
};
)");
  ASSERT_EQ(listing.structures.size(), 1U);
  EXPECT_THAT(members_of(*listing.structures[0]), ElementsAre("none@0+1", "member@8+8", "method@16+16", "other@32+1"));
  EXPECT_THAT(doubts_of(listing), ElementsAre("Odd: bytes 1 to 7 and 33 to 39"));
}

TEST(PaholeListing, AVirtualBaseMayLieInAnyHole) {
  const Listing listing = listing_of(R"(struct View : virtual Shared {
	/* struct Shared              <ancestor>; */     /* 4294967295     0 */
	int ()(void) * *           _vptr.View;           /*     0     8 */
	int                        row;                  /*     8     4 */
	virtual void ~View(struct View *, int, const void  * *);

	/* size: 32, cachelines: 1, members: 3 */
};
struct Both : Left, Right {
	/* struct Left                <ancestor>; */     /*     0    40 */
	/* struct Right               <ancestor>; */     /*    16    40 */
	char                       mark;                 /*    28     1 */

	/* size: 56, cachelines: 1, members: 3 */
};
)");
  EXPECT_THAT(doubts_of(listing), ElementsAre("View: bytes 12 to 31", "Both: bytes 29 to 55"));
}

TEST(PaholeListing, MembersOfOtherStructuresOfTheListingAreKnown) {
  const Listing listing = listing_of(R"(struct lock {
	int                        word;                 /*     0     4 */

	/* size: 4, cachelines: 1, members: 1 */
};
struct table {
	const struct {
		enum {
			OFF = 0,
			ON = 1,
		} state;                                 /*     0     4 */
		struct {
			u8         low;                  /*     4     1 */
			u16        wide;                 /*     5     2 */
		} __attribute__((__packed__)) pins[4];   /*     4    12 */
	};                                               /*     0    16 */
	struct lock                locks[4];             /*    16    16 */
	struct {
		int        x;                            /*    32     4 */
	} * parts;                                       /*    32     8 */
	enum {
		NONE = 0,
	} kind:8;                                        /*    40: 0  4 */

	/* size: 48, cachelines: 1, members: 4 */
};
)");
  const Type* const table = structure_in(listing, "table");
  ASSERT_NE(table, nullptr);
  EXPECT_THAT(members_of(*table), ElementsAre("-@0+16", "locks@16+16", "parts@32+8", "kind@40:0/8"));
  EXPECT_THAT(members_of(*table->members[0].type), ElementsAre("state@0+4", "pins@4+12"));
  EXPECT_THAT(members_of(*table->members[0].type->members[1].type->element), ElementsAre("low@0+1", "wide@1+2"));
  EXPECT_THAT(members_of(*table->members[1].type->element), ElementsAre("word@0+4"));
}

TEST(PaholeListing, StructuresOfTheSameNameThatDifferGetNumbers) {
  const std::string one = "struct job {\n\tint a; /* 0 4 */\n\n\t/* size: 4 */\n};\n";
  const Listing listing = listing_of(one + "struct job {\n\tlong a; /* 0 8 */\n\n\t/* size: 8 */\n};\n" + one);
  ASSERT_EQ(listing.structures.size(), 2U);
  EXPECT_EQ(listing.structures[0]->name, "job#1");
  EXPECT_EQ(listing.structures[1]->name, "job#2");
  EXPECT_EQ(listing_of(one + one).structures.front()->name, "job");
}

TEST(PaholeListing, WhatPaholeSaysOfItselfIsNoPartOfAMember) {
  const Listing listing = listing_of(
      "$ pahole -C job x 2>&1\ndwarf_expr: unhandled 0x12 DW_OP_ operation\nstruct job {\n"
      "die__process_class: tag not supported 0x2f (template_type_parameter)!\n\tint a; /* 0 4 */\n\n\t/* size: 4 */\n};\n");
  ASSERT_EQ(listing.structures.size(), 1U);
  EXPECT_THAT(members_of(*listing.structures[0]), ElementsAre("a@0+4"));
}

TEST(PaholeListing, AMemberOutsideOfAnyStructureIsRefused) {
  EXPECT_THAT(refusal_of("struct a {\n\tint x; /* 0 4 */\n\t/* size: 4 */\n};\n\tint y; /* 4 4 */\n"),
              AllOf(StartsWith("in:5:"), HasSubstr("outside of any structure")));
}

}  // namespace
}  // namespace linebounce::types
