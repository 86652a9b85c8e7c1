// Layouts from other tools' listings.
#include "sim/config/listing_layouts.hpp"

#include "fixture.hpp"
#include "sim/config/layout_file.hpp"

namespace linebounce::sim {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// pahole's format, with constructs from a kernel's structures.
constexpr const char* kQueue = R"(struct work_queue {
	spinlock_t                 lock;                 /*     0     4 */
	unsigned int               stopped:1;            /*     4: 0  4 */
	unsigned int               frozen:3;             /*     4: 1  4 */

	/* XXX 4 bits hole, try to pack */
	unsigned int               :4;

	/* Bitfield combined with next fields */

	struct list_head           entries;              /*     8    16 */
	union {
		void *             owner;                /*    24     8 */
		struct {
			int        pid;                  /*    24     4 */
			int        tgid;                 /*    28     4 */
		};                                       /*    24     8 */
	};                                               /*    24     8 */
	struct {
		atomic_t           refs;                 /*    32     4 */

		/* XXX 4 bytes hole, try to pack */

		struct list_head   link;                 /*    40    16 */
	} shared;                                        /*    32    24 */
	int                        (*run)(struct work *, void (*)(int)); /*    56     8 */
	/* --- cacheline 1 boundary (64 bytes) --- */
	struct percpu *            cpu[4];               /*    64    32 */
	union limits {
		long               soft;                 /*    96     8 */
		int                pair[2];              /*    96     8 */
	}limits;                                         /*    96     8 */
	const char  * const        name;                 /*   104     8 */

	/* XXX 16 bytes hole, try to pack */

	/* --- cacheline 2 boundary (128 bytes) --- */
	seqcount_t                 seq __attribute__((__aligned__(64))); /*   128     4 */
	char                       tail[];               /*   132     0 */

	/* size: 192, cachelines: 3, members: 12 */
	/* sum members: 116, holes: 1, sum holes: 16 */
	/* padding: 60 */
	/* forced alignments: 1 */
} __attribute__((__aligned__(64)));
)";

std::vector<std::string> fields(const Layout& layout) {
  std::vector<std::string> out;
  for (const Field& field : layout.fields)
    out.push_back(field.name + "@" + std::to_string(field.offset) + "+" + std::to_string(field.size));
  return out;
}

std::vector<Layout> parse_pahole(const std::string& text, const std::string& file) {
  std::vector<Layout> out;
  const LayoutFile layouts = read_layout_file(text, file);
  for (const auto& [name, layout] : layouts.layouts.all()) out.push_back(layout);
  return out;
}

class Pahole : public ConfigFiles {
 protected:
  std::string error(const std::string& text) const {
    return error_of([&] { parse_pahole(text, "s.pahole"); });
  }
};

TEST_F(Pahole, MembersBecomeFields) {
  const auto layouts = parse_pahole(kQueue, "s.pahole");
  ASSERT_EQ(layouts.size(), 1U);
  EXPECT_EQ(layouts[0].name, "work_queue");
  EXPECT_EQ(layouts[0].size, 192);
  EXPECT_EQ(layouts[0].alignment, 64);
  EXPECT_THAT(
      fields(layouts[0]),
      ElementsAre("lock@0+4", "stopped|frozen@4+1", "entries.next@8+8", "entries.prev@16+8", "owner|pid|tgid@24+8",
                  "shared.refs@32+4", "shared+4@36+4", "shared.link.next@40+8", "shared.link.prev@48+8", "run@56+8",
                  "cpu[0]@64+8", "cpu[1]@72+8", "cpu[2]@80+8", "cpu[3]@88+8", "limits@96+8", "name@104+8", "seq@128+4"));
}

TEST_F(Pahole, AFileOfItIsALayoutFile) {
  const LayoutFile file = load_layout_file(write("s.pahole", kQueue), "");
  EXPECT_EQ(file.layouts.find("work_queue").size, 192);
}

TEST_F(Pahole, SeveralStructuresAndTypedefsAndEnumsAreRead) {
  const auto layouts = parse_pahole(
      "struct a {\n\tenum {\n\t\tRED = 0,\n\t\tBLUE = 1,\n\t} colour; /* 0 4 */\n\n\t/* size: 4, cachelines: 1, members: 1 "
      "*/\n};\n"
      "typedef struct {\n\tint x; /* 0 4 */\n\t/* size: 4 */\n} b;\nunion c {\n\tint i; /* 0 4 */\n\tlong l; /* 0 8 */\n};\n",
      "s.pahole");
  ASSERT_EQ(layouts.size(), 3U);
  EXPECT_THAT(fields(layouts[0]), ElementsAre("colour@0+4"));
  EXPECT_EQ(layouts[1].name, "b");
  EXPECT_THAT(fields(layouts[2]), ElementsAre("i|l@0+8"));
  EXPECT_EQ(layouts[2].size, 8);
}

TEST_F(Pahole, ClassesOfCppAreReadWithoutWhatHasNoBytes) {
  const auto layouts = parse_pahole(
      "class queue : public base {\n\tenum state {\n\t\tIDLE = 0,\n\t};\n\n\tstruct inner {\n\t\tint a; /* 0 4 */\n\n"
      "\t\t/* size: 4, cachelines: 1, members: 1 */\n\t};\n\npublic:\n\n\t/* struct base <ancestor>; */ /* 0 16 */\n\n"
      "\tvoid queue(class queue *, );\n\n\tvirtual void ~queue(class queue *, int);\n\n"
      "\tint ()(void) * * _vptr.queue; /* 16 8 */\n\tstruct atomic<int> head __attribute__((__aligned__(4))); /* 24 4 */\n"
      "protected:\n\n\tclass vector<int, std::allocator<int> > items; /* 32 24 */\n\tbool closed:1; /* 56: 0 1 */\n\n"
      "\tint ()(class queue *, int) queue::* call; /* 64 16 */\n\n\t/* size: 128, cachelines: 2, members: 6 */\n"
      "} __attribute__((__aligned__(64)));\n",
      "s.pahole");
  ASSERT_EQ(layouts.size(), 1U);
  EXPECT_THAT(fields(layouts[0]),
              ElementsAre("base@0+16", "_vptr.queue@16+8", "head@24+4", "items@32+24", "closed@56+1", "call@64+16"));
  EXPECT_EQ(layouts[0].size, 128);
}

TEST_F(Pahole, TypesInFrontOfAClasssMembersTakeNoSpaceAndABaseEndsWhereItsPaddingIsUsed) {
  const auto layouts = parse_pahole(
      "struct job : base {\n\tunion {\n\t\tlong whole; /* 0 8 */\n\t\tstruct {\n\t\t\tint low; /* 0 4 */\n\t\t\tint high; /* 4 "
      "4 "
      "*/\n\t\t}; /* 0 8 */\n\t};\n\n\tvoid job(struct job *);\n\n\t/* struct base <ancestor>; */ /* 0 16 */\n"
      "\tint extra; /* 12 4 */\n\tunion {\n\t\tlong whole; /* 16 8 */\n\t\tstruct {\n\t\t\tint low; /* 16 4 */\n"
      "\t\t\tint high; /* 20 4 */\n\t\t}; /* 16 8 */\n\t}; /* 16 8 */\n\n\t/* size: 24, cachelines: 1, members: 3 */\n};\n",
      "s.pahole");
  ASSERT_EQ(layouts.size(), 1U);
  EXPECT_THAT(fields(layouts[0]), ElementsAre("base@0+12", "extra@12+4", "whole|low|high@16+8"));
}

TEST_F(Pahole, TheOutputOfPtypeIsALayoutToo) {
  const LayoutFile file = load_layout_file(write("gdb.pahole", R"((gdb) ptype /o struct job
> /* offset      |    size */  type = struct job {
> /*      0      |       4 */    int head;
> /* XXX  4-byte hole      */
> /*      8      |      16 */    struct list {
> /*      8      |       8 */        struct list *next;
> /*     16      |       8 */        struct list *prev;
>
>                                    /* total size (bytes):   16 */
>                                } waiters;
> /*     24      |       8 */    union {
> /*                     8 */        long number;
> /*                     4 */        int half;
>
>                                    /* total size (bytes):    8 */
>                                };
> /*     32: 0   |       4 */    int x : 3;
> /*     32: 3   |       4 */    int y : 5;
> /* 0x0028      |  0x0008 */    void (*call)(int, void *);
>
>                                /* total size (bytes):   48 */
>                              }
> // /* offset    |  size */  type = class osp::Star<double> : public Base [with T = double] {
> //                           private:
> //                             static int count;
> // /*   16      |     8 */    T shared;
> //
> //                             void run(void);
> //
> //                             /* total size:   24 bytes */
> //                           }
)"),
                                           "");
  EXPECT_THAT(fields(file.layouts.find("job")),
              ElementsAre("head@0+4", "waiters.next@8+8", "waiters.prev@16+8", "number|half@24+8", "x|y@32+1", "call@40+8"));
  EXPECT_EQ(file.layouts.find("job").size, 48);
  EXPECT_THAT(fields(file.layouts.find("osp::Star<double>")), ElementsAre("shared@16+8"));
}

// Text that is cut off anywhere is refused with the line number: no prefix passes for the whole.
TEST_F(Pahole, TextThatIsCutOffIsRefusedWherever) {
  const std::string text(kQueue);
  for (std::size_t end = 0; end + 2 < text.size(); ++end)
    EXPECT_THAT(error(text.substr(0, end)), StartsWith("s.pahole:")) << "cut at byte " << end;
  EXPECT_THAT(error(text.substr(0, text.find("\tstruct {\n\t\tatomic_t"))),
              AllOf(StartsWith("s.pahole:19:1:"), HasSubstr("cut off in work_queue, which begins in line 1"),
                    HasSubstr("expected a member or `}`")));
  EXPECT_THAT(error(text.substr(0, text.find("/*    24     8 */"))), HasSubstr("expected `/* offset size */` behind owner"));
}

TEST_F(Pahole, TextThatIsNotPaholesIsRefused) {
  std::string deep = "struct a {\n";
  for (int i = 0; i < 100000; ++i) deep += "struct {\n";
  EXPECT_THAT(error(deep), HasSubstr("the text is cut off in a structure"));
  for (int i = 0; i <= 100000; ++i) deep += "};\n";
  EXPECT_THAT(error(deep), AllOf(StartsWith("s.pahole: a: line 65:"), HasSubstr("more than 64 structures")));
  EXPECT_THAT(error(""), AllOf(StartsWith("s.pahole:1:1"), HasSubstr("no structure")));
  EXPECT_THAT(error("int x;\n"), AllOf(StartsWith("s.pahole:1:1"), HasSubstr("expected `struct NAME {`")));
  EXPECT_THAT(error("struct a {\n\tint x;\n};\n"), HasSubstr("a: line 3: expected `/* offset size */` behind x"));
  EXPECT_THAT(error("struct a {\n\tint x; /* 0 4 */\n};\n"), HasSubstr("no comment `/* size: N, ... */`"));
}

std::vector<std::string> unexplained(const Layout& layout) {
  std::vector<std::string> out;
  for (const Field& bytes : layout.unexplained) out.push_back(std::to_string(bytes.offset) + "+" + std::to_string(bytes.size));
  return out;
}

TEST_F(Pahole, MembersThatOverlapShareAFieldAndOneThatReachesTooFarIsUnexplained) {
  EXPECT_THAT(fields(parse_pahole("struct a {\n\tint x; /* 0 4 */\n\tint y; /* 2 4 */\n\t/* size: 6 */\n};\n", "s.pahole")[0]),
              ElementsAre("x|y@0+6"));
  const Layout far =
      parse_pahole("struct a {\n\tlong x; /* 0 8 */\n\tint y; /* 8 4000 */\n\t/* size: 16 */\n};\n", "s.pahole")[0];
  EXPECT_THAT(fields(far), ElementsAre("x@0+8", "y@8+1"));
  EXPECT_THAT(unexplained(far), ElementsAre("9+7"));
}

TEST_F(Pahole, AStructureThatCannotBeReadIsNamedBesideTheOthers) {
  const LayoutFile file = read_layout_file(
      "struct none {\n\n\t/* size: 0, cachelines: 0, members: 0 */\n};\nstruct a {\n\tint x; /* 0 4 */\n\t/* size: 4 */\n};\n",
      "s.pahole");
  EXPECT_EQ(file.layouts.all().size(), 1U);
  EXPECT_EQ(file.unread.at("none"), "has no bytes");
}

}  // namespace
}  // namespace linebounce::sim
