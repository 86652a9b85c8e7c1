#include "types/type.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "structures.hpp"

namespace linebounce::types {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const TypePtr kChar = scalar(1), kShort = scalar(2), kInt = scalar(4), kLong = scalar(8);

std::string unexplained(const TypePtr& type) {
  return bytes_text(unexplained_bytes(*type));
}

TEST(SumRule, PaddingUpToTheNextMembersAlignmentIsAGap) {
  const TypePtr type = structure("s", 24, {member("a", 0, kChar), member("b", 8, kLong), member("c", 16, kShort)});
  EXPECT_THAT(bytes_of(*type), ElementsAre(UsedBytes{{0, 1}, ByteUse::member}, UsedBytes{{1, 8}, ByteUse::gap},
                                           UsedBytes{{8, 18}, ByteUse::member}, UsedBytes{{18, 24}, ByteUse::gap}));
}

TEST(SumRule, ALostMemberIsToldByItsBytes) {
  EXPECT_EQ(unexplained(structure("s", 16, {member("a", 0, kInt), member("c", 8, kLong)})), "");  // might be padding
  EXPECT_EQ(unexplained(structure("s", 24, {member("a", 0, kLong), member("c", 16, kLong)})), "bytes 8 to 15");
  EXPECT_EQ(unexplained(structure("s", 12, {member("a", 0, kInt), member("b", 4, kInt)})), "bytes 8 to 11");
  EXPECT_EQ(unexplained(structure("s", 3, {member("a", 0, kChar), member("b", 2, kChar)})), "byte 1");
  EXPECT_EQ(unexplained(structure("s", 8, {})), "bytes 0 to 7");
}

TEST(SumRule, AnOverAlignedMemberExplainsTheGapBeforeItOnlyIfThatIsTold) {
  std::vector<Member> members = {member("head", 0, kInt), member("tail", 64, kInt)};
  EXPECT_EQ(unexplained(structure("ring", 128, members)), "bytes 4 to 63 and 68 to 127");
  members.back().alignment = 64;
  EXPECT_EQ(unexplained(structure("ring", 128, members)), "");
  members.back().alignment = 0;
  Type silent = *structure("ring", 128, members);
  silent.states_alignment = false;  // as BTF
  EXPECT_THAT(unexplained_bytes(silent), IsEmpty());
}

TEST(SumRule, AMemberAtAnUnknownPlaceMayLieInAnyHole) {
  Member base = member("Base", 0, structure("Base", 8, {member("b", 0, kLong)}), MemberKind::virtual_base);
  base.bit_offset.reset();
  const TypePtr type = structure("s", 24, {member("_vptr", 0, kLong, MemberKind::vtable_pointer), member("d", 8, kInt), base});
  EXPECT_EQ(unexplained(type), "bytes 12 to 23");
}

TEST(SumRule, EmptyMembersHaveNoBytesAndExplainTheirOwn) {
  const TypePtr nothing = structure("Nothing", 1, {});
  EXPECT_EQ(unexplained(nothing), "");
  EXPECT_TRUE(is_empty(*nothing));
  const TypePtr type = structure("s", 8, {member("e", 0, nothing, MemberKind::empty), member("x", 4, kInt)});
  EXPECT_EQ(unexplained(type), "");
  EXPECT_THAT(bytes_of(*type), ElementsAre(UsedBytes{{0, 4}, ByteUse::gap}, UsedBytes{{4, 8}, ByteUse::member}));
  EXPECT_FALSE(is_empty(*type));
}

TEST(SumRule, ADerivedClassUsesTheTailPaddingOfItsBase) {
  const TypePtr base = structure("Tail", 16, {member("a", 0, kLong), member("b", 8, kChar)});
  EXPECT_EQ(base_size(*base), 9);
  const TypePtr derived = structure(
      "Derived", 16, {member("Tail", 0, base, MemberKind::base_class), member("c", 9, kChar), member("d", 10, kShort)});
  EXPECT_THAT(bytes_of(*derived), ElementsAre(UsedBytes{{0, 12}, ByteUse::member}, UsedBytes{{12, 16}, ByteUse::gap}));
  // A base whose tail padding stays its own, as of a plain structure in C.
  const TypePtr behind = structure("Behind", 24, {member("Tail", 0, base, MemberKind::base_class), member("c", 16, kChar)});
  EXPECT_EQ(unexplained(behind), "");
}

TEST(SumRule, AVirtualBaseIsNotWhereTheBaseClassHasIt) {
  const TypePtr base = structure("Base", 8, {member("b", 0, kLong)});
  const TypePtr middle = structure("Middle", 24,
                                   {member("_vptr", 0, kLong, MemberKind::vtable_pointer), member("m", 8, kInt),
                                    member("Base", 16, base, MemberKind::virtual_base)});
  EXPECT_EQ(base_size(*middle), 12);
  EXPECT_EQ(data_size(*middle), 24);
  const TypePtr last = structure("Last", 32,
                                 {member("Middle", 0, middle, MemberKind::base_class), member("x", 16, kLong),
                                  member("Base", 24, base, MemberKind::virtual_base)});
  EXPECT_EQ(unexplained(last), "");
  EXPECT_EQ(bytes_of(*last)[1], (UsedBytes{{12, 16}, ByteUse::gap}));
}

TEST(SumRule, TheRestOfABitFieldsUnitMayBeOfUnnamedOnes) {
  const TypePtr type = structure("s", 8, {member("a", 0, kChar), bits("b", 8, 4, kInt), bits("c", 32, 5, kInt)});
  EXPECT_EQ(unexplained(type), "");
  EXPECT_EQ(unexplained(structure("s", 16, {bits("a", 0, 3, kInt), bits("b", 96, 3, kInt)})), "bytes 4 to 11");
}

TEST(SumRule, TheTagExplainsWhatAVariantLeavesOut) {
  const auto variant = [](Member field) {
    auto type = std::make_shared<Type>(*structure("v", 16, {std::move(field)}));
    type->is_variant = true;
    return member("v", 0, type, MemberKind::variant);
  };
  const TypePtr type =
      structure("Shape", 16, {member("", 0, kChar), variant(member("0", 8, kLong)), variant(member("0", 1, kChar))});
  EXPECT_EQ(unexplained(type), "");
  EXPECT_EQ(unexplained(structure("Shape", 16, {member("", 0, kChar), variant(member("0", 1, kChar))})), "bytes 2 to 15");
}

TEST(SumRule, UnexplainedBytesOfAMemberAreThoseOfTheWhole) {
  const TypePtr inner = structure("inner", 24, {member("a", 0, kLong), member("c", 16, kLong)});
  EXPECT_EQ(unexplained(structure("outer", 56, {member("x", 0, kLong), member("i", 8, array(inner, 2))})),
            "bytes 16 to 23 and 40 to 47");
}

TEST(Alignment, OfPackedStructuresIsOneUnlessPaddingShowsMore) {
  const auto aligned = [](std::int64_t size, std::vector<Member> members) {
    return structure("s", size, std::move(members))->alignment;
  };
  EXPECT_EQ(aligned(16, {member("a", 0, kChar), member("b", 8, kLong)}), 8);
  EXPECT_EQ(aligned(11, {member("a", 0, kChar), member("b", 1, kLong), member("c", 9, kShort)}), 1);
  EXPECT_EQ(aligned(16, {member("a", 0, kLong), member("b", 8, kChar), member("c", 9, kInt), member("d", 13, array(kChar, 3))}),
            1);
  EXPECT_EQ(aligned(16, {member("a", 0, kChar), member("b", 4, kLong), member("c", 12, kChar)}), 4);  // #pragma pack(4)
  EXPECT_EQ(aligned(16, {bits("a", 0, 3, kInt), bits("b", 3, 40, kLong), bits("c", 64, 30, kInt)}), 8);
}

}  // namespace
}  // namespace linebounce::types
