// BTF: bpftool's text, and the kernel's binary form with its base.
#include "types/btf.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/types/listings.hpp"

namespace linebounce::types {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The binary form, with the few kinds that these tests need.
class BtfWriter {
 public:
  // `inherited`: the strings of a base.
  explicit BtfWriter(std::string inherited = "") : inherited_(std::move(inherited)) {
    if (inherited_.empty()) strings_.push_back('\0');
  }

  void integer(const std::string& name, std::uint32_t bytes) { words({string(name), 1U << 24, bytes, bytes * 8}); }
  void forward(const std::string& name) { words({string(name), 7U << 24, 0}); }
  void pointer(std::uint32_t to) { words({0, 2U << 24, to}); }
  void array(std::uint32_t of, std::uint32_t elements) { words({0, 3U << 24, 0, of, of, elements}); }
  // Members: name, type, bit offset, width of a bit-field.
  struct Field {
    std::string name;
    std::uint32_t type, bit, width = 0;
  };
  void structure(const std::string& name, std::uint32_t bytes, const std::vector<Field>& fields) {
    words({string(name), 1U << 31 | 4U << 24 | static_cast<std::uint32_t>(fields.size()), bytes});
    for (const Field& field : fields) words({string(field.name), field.type, field.width << 24 | field.bit});
  }
  void of_kind(std::uint32_t kind) { words({0, kind << 24, 1}); }

  [[nodiscard]] std::string bytes() const {
    std::string out("\x9f\xeb\x01\x00", 4);
    for (const std::uint32_t word : {24U, 0U, static_cast<std::uint32_t>(types_.size()),
                                     static_cast<std::uint32_t>(types_.size()), static_cast<std::uint32_t>(strings_.size())})
      append(out, word);
    return out + types_ + strings_;
  }
  [[nodiscard]] const std::string& strings() const { return strings_; }

 private:
  static void append(std::string& out, std::uint32_t word) {
    for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(word >> shift & 0xff);
  }
  void words(const std::vector<std::uint32_t>& all) {
    for (const std::uint32_t word : all) append(types_, word);
  }
  std::uint32_t string(const std::string& text) {
    if (text.empty()) return 0;
    const std::size_t at = inherited_.size() + strings_.size();
    strings_ += text + '\0';
    return static_cast<std::uint32_t>(at);
  }

  std::string inherited_, types_, strings_;
};

BtfWriter kernel() {
  BtfWriter out;
  out.integer("long", 8);                                        // 1
  out.integer("unsigned int", 4);                                // 2
  out.pointer(4);                                                // 3
  out.structure("list", 16, {{"next", 3, 0}, {"prev", 3, 64}});  // 4
  return out;
}

std::string module_of(const BtfWriter& base) {
  BtfWriter out(base.strings());
  out.array(2, 3);      // 5
  out.forward("list");  // 6
  out.structure("thing", 48,
                {{"links", 4, 0}, {"kind", 2, 128, 3}, {"age", 2, 131, 7}, {"sizes", 5, 192}, {"id", 2, 288}});  // 7
  return out.bytes();
}

TEST(BinaryBtf, OfAModuleIsReadWithItsKernels) {
  const std::string base = kernel().bytes();
  const Listing listing = listing_of(module_of(kernel()), {.bytes = {}, .file = {}, .base = base});
  ASSERT_EQ(listing.structures.size(), 1U);
  EXPECT_THAT(members_of(*listing.structures[0]),
              ElementsAre("links@0+16", "kind@16:0/3", "age@16:3/7", "sizes@24+12", "id@36+4"));
  EXPECT_THAT(members_of(*listing.structures[0]->members[0].type), ElementsAre("next@0+8", "prev@8+8"));
  ASSERT_EQ(listing.of_base.size(), 1U) << "a structure that the module only declares is the kernel's";
  EXPECT_EQ(listing.of_base[0]->name, "list");
}

TEST(BinaryBtf, OfAModuleIsRefusedWithoutItsKernelsOrWithAnothers) {
  EXPECT_THAT(refusal_of(module_of(kernel())), HasSubstr("need those of its kernel (--base FILE)"));
  BtfWriter other;
  other.integer("long", 8);
  other.integer("unsigned long long", 8);
  const std::string base = other.bytes();
  EXPECT_THAT(refusal_of(module_of(kernel()), {.bytes = {}, .file = {}, .base = base}), HasSubstr("another kernel"));
  const std::string text = "[1] INT 'long' size=8 bits_offset=0 nr_bits=64 encoding=SIGNED\n";
  EXPECT_THAT(refusal_of(module_of(kernel()), {.bytes = {}, .file = {}, .base = text}), HasSubstr("not a listing of it"));
}

TEST(BinaryBtf, AModuleBuiltApartFromItsKernelHasNamesAndSizesOfTheKernels) {
  BtfWriter base;
  base.integer("long", 8);
  base.integer("unsigned int", 4);
  base.structure("task", 0, {});
  base.structure("list", 16, {});
  const std::string distilled = base.bytes();
  const Listing listing = listing_of(module_of(base), {.bytes = {}, .file = {}, .distilled_base = distilled});
  ASSERT_EQ(listing.structures.size(), 1U);
  EXPECT_EQ(member_text(listing.structures[0]->members[0]), "links@0+16");
  EXPECT_THAT(listing.of_base, IsEmpty());
}

TEST(BinaryBtf, WhatIsCutOffOrUnknownIsRefused) {
  const std::string whole = kernel().bytes();
  for (std::size_t end = 4; end < whole.size(); ++end) EXPECT_NE(refusal_of(whole.substr(0, end)), "no error") << end;
  BtfWriter odd = kernel();
  odd.of_kind(27);
  EXPECT_THAT(refusal_of(odd.bytes()), HasSubstr("type 5 is of kind 27"));
}

TEST(BinaryBtf, AStructureWithinItselfIsNotRead) {
  BtfWriter out;
  out.structure("ring", 8, {{"self", 1, 0}});
  EXPECT_THAT(doubts_of(listing_of(out.bytes())), ElementsAre("ring: self: a type in it contains itself"));
}

TEST(BtfText, HasAnonymousMembersUnionsEnumsAndTags) {
  const Listing listing = listing_of(R"([1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
[2] STRUCT 'entry' size=56 vlen=8
	'(anon)' type_id=3 bits_offset=0
	'state' type_id=5 bits_offset=64
	'limit' type_id=6 bits_offset=128
	'user' type_id=8 bits_offset=192
	'ratio' type_id=9 bits_offset=256
	'none' type_id=11 bits_offset=320
	'key' type_id=12 bits_offset=320
	'tail' type_id=10 bits_offset=448
[3] UNION '(anon)' size=8 vlen=2
	'whole' type_id=4 bits_offset=0
	'half' type_id=1 bits_offset=0
[4] INT 'long' size=8 bits_offset=0 nr_bits=64 encoding=SIGNED
[5] ENUM 'state' encoding=UNSIGNED size=4 vlen=1
	'READY' val=0
[6] ENUM64 'limit' encoding=UNSIGNED size=8 vlen=1
	'MOST' val=1099511627776ULL
[7] TYPE_TAG 'user' type_id=1
[8] PTR '(anon)' type_id=7
[9] FLOAT 'double' size=8
[10] ARRAY '(anon)' type_id=1 index_type_id=1 nr_elems=0
[11] STRUCT '(anon)' size=0 vlen=0
[12] TYPEDEF 'key_t' type_id=13
[13] STRUCT '(anon)' size=16 vlen=2
	'a' type_id=4 bits_offset=0
	'b' type_id=4 bits_offset=64
[14] DECL_TAG 'tag' type_id=2 component_idx=3
[15] FWD 'other' fwd_kind=struct
)");
  EXPECT_THAT(doubts_of(listing), IsEmpty());
  const Type* const entry = structure_in(listing, "entry");
  ASSERT_NE(entry, nullptr);
  EXPECT_THAT(members_of(*entry), ElementsAre("-@0+8", "state@8+4", "limit@16+8", "user@24+8", "ratio@32+8", "none@40+0",
                                              "key@40+16", "tail@56+0"));
  EXPECT_EQ(entry->members[0].kind, MemberKind::anonymous);
  EXPECT_EQ(entry->members[5].kind, MemberKind::empty);
  EXPECT_EQ(entry->members[7].kind, MemberKind::flexible_array);
  EXPECT_EQ(entry->members[6].type->name, "key_t");
  EXPECT_NE(structure_in(listing, "key_t"), nullptr) << "a structure may have a name by its typedef alone";
}

TEST(BtfText, UnnamedBitFieldsAreGapsWithinAUnitAndUnexplainedBeyondIt) {
  const Listing listing = listing_of(R"([1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
[2] INT 'long' size=8 bits_offset=0 nr_bits=64 encoding=SIGNED
[3] STRUCT 'flags' size=8 vlen=2
	'low' type_id=1 bits_offset=0 bitfield_size=3
	'next' type_id=1 bits_offset=32
[4] STRUCT 'clock' size=40 vlen=2
	'mode' type_id=1 bits_offset=0
	'time' type_id=2 bits_offset=128
)");
  EXPECT_EQ(bytes_of(*structure_in(listing, "flags"))[1].use, ByteUse::gap);
  EXPECT_THAT(doubts_of(listing), ElementsAre("clock: bytes 4 to 15 and 24 to 39"));
}

TEST(BtfText, BitFieldsOfBefore2018AreIntegersOfFewerBits) {
  const Listing listing = listing_of(R"([1] INT 'int' size=4 bits_offset=0 nr_bits=3 encoding=SIGNED
[2] INT 'int' size=4 bits_offset=3 nr_bits=5 encoding=SIGNED
[3] STRUCT 'flags' size=4 vlen=2
	'low' type_id=1 bits_offset=0
	'high' type_id=2 bits_offset=0
)");
  EXPECT_THAT(members_of(*structure_in(listing, "flags")), ElementsAre("low@0:0/3", "high@0:3/5"));
}

TEST(BtfText, OfAModuleWithoutItsKernelsIsRefusedStructureByStructure) {
  const std::string text = R"([901] INT 'long' size=8 bits_offset=0 nr_bits=64 encoding=SIGNED
[902] STRUCT 'own' size=8 vlen=1
	'id' type_id=901 bits_offset=0
[903] STRUCT 'thing' size=24 vlen=2
	'own' type_id=902 bits_offset=0
	'links' type_id=4 bits_offset=64
)";
  const Listing listing = listing_of(text);
  EXPECT_NE(structure_in(listing, "own"), nullptr);
  ASSERT_EQ(listing.unread.size(), 1U);
  EXPECT_EQ(listing.unread[0].name, "thing");
  EXPECT_THAT(listing.unread[0].why,
              HasSubstr("links: type 4 is not in the file; types of a kernel module need those of its kernel"));
  const std::string base = kernel().bytes();
  EXPECT_THAT(refusal_of(text, {.bytes = {}, .file = {}, .base = base}),
              HasSubstr("begin at 901, but those of its base end at 4"));
}

TEST(BtfText, AStructureWhoseMembersAreCutOffIsNotRead) {
  const Listing listing = listing_of(
      "[1] INT 'long' size=8 bits_offset=0 nr_bits=64 encoding=SIGNED\n[2] STRUCT 'cut' size=16 vlen=2\n\t'a' type_id=1 "
      "bits_offset=0\n");
  EXPECT_THAT(doubts_of(listing), ElementsAre("cut: the text is cut off: members are missing"));
  EXPECT_THAT(refusal_of("[1] INT 'a' size=4\n[1] INT 'b' size=4\n"), HasSubstr("in:2: BTF: type 1 stands there twice"));
}

}  // namespace
}  // namespace linebounce::types
