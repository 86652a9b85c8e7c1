// Damages files of every form: each is read or refused with a reason, and nothing vanishes from what is read.
//
// LINEBOUNCE_TYPE_MUTATIONS is the number for each form; ./dev fuzz sets it; by hand:
//   LINEBOUNCE_TYPE_MUTATIONS=100000 build/dev/test_types --gtest_filter='*Mutat*'
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "tests/types/listings.hpp"
#include "tests/types/sample_listings.hpp"
#include "types/type_fields.hpp"

namespace linebounce::types {
namespace {

// Raw BTF of: struct list { list *next, *prev; }; struct job { list links; unsigned kind : 3; int sizes[3]; }
std::string binary_btf() {
  std::string types, strings(1, '\0');
  const auto name = [&strings](const char* text) {
    const auto at = static_cast<std::uint32_t>(strings.size());
    strings += std::string(text) + '\0';
    return at;
  };
  const auto put = [](std::string& out, std::uint32_t word) {
    for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(word >> shift & 0xff);
  };
  const std::vector<std::uint32_t> words = {name("int"),
                                            1U << 24,
                                            4,
                                            32,  // 1
                                            0,
                                            2U << 24,
                                            3,  // 2
                                            name("list"),
                                            4U << 24 | 2,
                                            16,
                                            name("next"),
                                            2,
                                            0,
                                            name("prev"),
                                            2,
                                            64,  // 3
                                            0,
                                            3U << 24,
                                            0,
                                            1,
                                            1,
                                            3,  // 4
                                            name("job"),
                                            1U << 31 | 4U << 24 | 3,
                                            32,
                                            name("links"),
                                            3,
                                            0,
                                            name("kind"),
                                            1,
                                            3U << 24 | 128,
                                            name("sizes"),
                                            4,
                                            160};
  for (const std::uint32_t word : words) put(types, word);
  std::string out("\x9f\xeb\x01\x00", 4);
  for (const std::size_t word : {std::size_t{24}, std::size_t{0}, types.size(), types.size(), strings.size()})
    put(out, static_cast<std::uint32_t>(word));
  return out + types + strings;
}

std::vector<std::string> samples() {
  return {
      binary_btf(),
      R"([1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
[2] STRUCT 'job' size=24 vlen=4
	'(anon)' type_id=3 bits_offset=0
	'kind' type_id=1 bits_offset=64 bitfield_size=3
	'sizes' type_id=4 bits_offset=96
	'tail' type_id=5 bits_offset=192
[3] UNION '(anon)' size=8 vlen=2
	'number' type_id=1 bits_offset=0
	'next' type_id=6 bits_offset=0
[4] ARRAY '(anon)' type_id=1 index_type_id=1 nr_elems=3
[5] ARRAY '(anon)' type_id=1 index_type_id=1 nr_elems=0
[6] PTR '(anon)' type_id=2
[7] TYPEDEF 'job_t' type_id=2
)",
      R"(struct base {
	int ()(void) * *           _vptr.base;           /*     0     8 */
	int                        id;                   /*     8     4 */

	/* size: 16, cachelines: 1, members: 2 */
};
struct job : base {
	/* struct base                <ancestor>; */     /*     0    16 */
	union {
		long int           whole;                /*    16     8 */
		struct {
			int        low;                  /*    16     4 */
			int        high[1];              /*    20     4 */
		} half;                                  /*    16     8 */
	};                                               /*    16     8 */
	unsigned int               kind:4;               /*    24: 0  4 */

	/* XXX 28 bits hole, try to pack */

	void                       (*call)(int);         /*    32     8 */
	struct list_head           list;                 /*    40    16 */
	/* --- cacheline 1 boundary (64 bytes) was 8 bytes ago --- */
	char                       tail[];               /*    56     0 */

	/* size: 56, cachelines: 1, members: 6 */
} __attribute__((__aligned__(8)));
struct Event {
	struct Key {
		u8                         __0 __attribute__((__aligned__(1))); /*     1     1 */

		/* size: 8, cachelines: 1, members: 1 */
	} __attribute__((__aligned__(4)));


	/* size: 8, cachelines: 1, members: 0 */
};
)",
      R"(/* offset      |    size */  type = struct app::Job<int> [with T = int] : public app::Base {
                             public:
/*      8      |       8 */    union {
/*                     8 */        T whole;
/*                     4 */        struct {
/*      8      |       2 */            short low;
/*     10      |       2 */            short high;

                                       /* total size (bytes):    4 */
                                   } half;

                                   /* total size (bytes):    8 */
                               };
/*     16: 3   |       4 */    unsigned int kind : 5;
/* XXX  3-byte hole      */
/*     24      |       8 */    void (*call)(int);

                               /* total size (bytes):   32 */
                             }
/* offset      |    size */  type = enum app::Event {
/*      0      |      16 */    Key (
/*      8      |       8 */        u64,

                                   /* total size (bytes):   16 */
                               ),
/*      0      |      16 */    Quit,

                               /* total size (bytes):   16 */
                             }
)",
      kClangRecords,
      kClangSimpleRecords,
      kGccClasses,
      kJolObjects,
      kStructlayout,
  };
}

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t limit) {
  return limit == 0 ? 0 : random() % limit;
}

// Changes bytes and figures, and leaves out, repeats and moves parts.
std::string mutated(std::string text, Random& random) {
  for (std::size_t changes = 1 + below(random, 4); changes > 0 && !text.empty(); --changes) {
    const std::size_t at = below(random, text.size()), length = 1 + below(random, 40);
    switch (below(random, 6)) {
      case 0: text[at] = static_cast<char>(random()); break;
      case 1: text.erase(at, length); break;
      case 2: text.insert(below(random, text.size()), text.substr(at, length)); break;
      case 3: text.resize(at); break;
      case 4: text[at] = "0123456789{};:,|/*()[]<>\n"[below(random, 25)]; break;
      default: {
        const std::size_t digit = text.find_first_of("0123456789", at);
        if (digit != std::string::npos) text.replace(digit, 1, std::to_string(random() >> below(random, 64)));
      }
    }
  }
  return text;
}

// What the sum rule promises: all bytes are covered, every member's bytes count as a member's, and the fields of a layout have
// all of those.
void expect_whole(const Type& type) {
  std::int64_t end = 0;
  for (const UsedBytes& part : bytes_of(type)) {
    ASSERT_EQ(part.bytes.begin, end);
    ASSERT_GT(part.bytes.end, part.bytes.begin);
    end = part.bytes.end;
  }
  ASSERT_EQ(end, type.size);
  const trace::Structure made = structure_of(type, FieldsFor::layout);
  std::vector<bool> is_told(std::min<std::int64_t>(type.size, 4096));
  for (const auto* fields : {&made.fields, &made.unexplained}) {
    for (const trace::Field& field : *fields) {
      for (std::int64_t i = std::max<std::int64_t>(field.offset, 0); i < field.offset + field.size && i < std::ssize(is_told);
           ++i)
        is_told[i] = true;
    }
  }
  for (const UsedBytes& part : bytes_of(type)) {
    if (part.use == ByteUse::gap) continue;
    for (std::int64_t i = part.bytes.begin; i < part.bytes.end && i < std::ssize(is_told); ++i)
      ASSERT_TRUE(is_told[i]) << "byte " << i << " of " << type.name
                              << " is in no field: " << ::testing::PrintToString(members_of(type));
  }
}

TEST(MutatedListings, AreReadWholeOrRefused) {
  const char* const given = std::getenv("LINEBOUNCE_TYPE_MUTATIONS");
  const int cases = given == nullptr ? 1500 : std::atoi(given);
  constexpr std::int64_t kLargest = 1 << 20;  // that a layout may have
  int read = 0;
  for (const std::string& sample : samples()) {
    const ListingForm* const form = listing_form_of(sample);
    ASSERT_NE(form, nullptr) << sample;
    const std::size_t whole = read_listing(*form, {sample, "in"}).structures.size();
    ASSERT_GT(whole, 0U) << form->name;
    for (int seed = 0; seed < cases; ++seed) {
      Random random(seed);
      const std::string text = mutated(sample, random);
      SCOPED_TRACE(std::string(form->name) + ", seed " + std::to_string(seed));
      try {
        const Listing listing = read_listing(*form, {text, "in"});
        for (const TypePtr& type : listing.structures) {
          if (type->size > kLargest) continue;
          ASSERT_NO_FATAL_FAILURE(expect_whole(*type));
          ++read;
        }
      } catch (const ReadError& error) {
        ASSERT_NE(std::string(error.what()), "");
      }
    }
  }
  EXPECT_GT(read, cases) << "hardly any was read";
}

}  // namespace
}  // namespace linebounce::types
