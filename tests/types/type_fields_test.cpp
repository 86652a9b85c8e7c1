#include "types/type_fields.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "structures.hpp"

namespace linebounce::types {
namespace {

using testing::ElementsAre;

const TypePtr kByte = scalar(1), kFour = scalar(4), kEight = scalar(8);

// "a 0 4": name, offset and size
std::vector<std::string> texts(const TypePtr& type, FieldsFor use = FieldsFor::layout) {
  std::vector<std::string> all;
  for (const trace::Field& field : fields_of(*type, use))
    all.push_back(fmt::format("{} {} {}", field.name, field.offset, field.size));
  return all;
}

TEST(Fields, OfNestedStructuresAndShortArraysAreTakenApart) {
  const TypePtr link = structure("link", 16, {member("next", 0, kEight), member("previous", 8, kEight)});
  const TypePtr node = structure("node", 32, {member("list", 0, link), member("value", 16, array(kEight, 2))});
  EXPECT_THAT(texts(node), ElementsAre("list.next 0 8", "list.previous 8 8", "value[0] 16 8", "value[1] 24 8"));
}

TEST(Fields, OfAStructureWithTooManyAreItsOwnMembers) {
  std::vector<Member> members;
  for (int i = 0; i < 10; ++i)
    members.push_back(member(std::string(1, static_cast<char>('a' + i)), i * 512, array(kEight, 64)));
  EXPECT_EQ(texts(structure("large", 5120, members)).size(), 10U);
}

TEST(Fields, AScalarHasNoneAndAUnionNoneInATrace) {
  EXPECT_TRUE(texts(kEight).empty());
  const TypePtr either = structure("u", 8, {member("a", 0, kEight), member("b", 0, kByte)}, TypeKind::union_type);
  EXPECT_THAT(texts(either), ElementsAre("a|b 0 8"));
  EXPECT_TRUE(texts(either, FieldsFor::trace).empty());
}

TEST(Fields, CoverAllBytesOfAMemberSoThatItMovesWithThem) {
  const TypePtr head = structure("head", 24, {member("colour", 8, kFour), member("left", 16, kEight)});
  const TypePtr tree = structure("tree", 40, {member("head", 8, head), member("count", 32, kByte)});
  const TypePtr holder = structure("holder", 56, {member("map", 0, tree), member("x", 40, kEight), member("y", 48, kFour)});
  EXPECT_THAT(texts(holder), ElementsAre("map+0 0 16", "map.head.colour 16 4", "map+20 20 4", "map.head.left 24 8",
                                         "map.count 32 1", "map+33 33 7", "x 40 8", "y 48 4"));
}

TEST(Fields, WhatSharesBytesIsOneUnderAllNames) {
  const TypePtr halves = structure("", 8, {member("low", 0, kFour), member("high", 4, kFour)});
  const TypePtr either =
      structure("", 8, {member("whole", 0, kEight), member("", 0, halves, MemberKind::anonymous)}, TypeKind::union_type);
  EXPECT_THAT(texts(structure("s", 16, {member("", 0, either, MemberKind::anonymous), member("tag", 8, kByte)})),
              ElementsAre("whole|low|high 0 8", "tag 8 1"));
  EXPECT_THAT(texts(structure("s", 8, {bits("a", 0, 3, kFour), bits("b", 3, 7, kFour), bits("c", 32, 8, kFour)})),
              ElementsAre("a|b 0 2", "c 4 1"));
}

TEST(Fields, OfEqualNamesTellTheBaseThatTheyCameFrom) {
  const TypePtr base = structure("ns::Base", 8, {member("x", 0, kEight)});
  const TypePtr derived =
      structure("Derived", 16, {member("x", 0, kEight), member("ns::Base", 8, base, MemberKind::base_class)});
  EXPECT_THAT(texts(derived), ElementsAre("x 0 8", "ns::Base::x 8 8"));
}

TEST(Fields, HaveNoEmptyMembersAndNoPaddingThatTheSourceNames) {
  const TypePtr nothing = structure("Nothing", 1, {});
  const TypePtr wrapper = structure("wrapper", 8, {member("tag", 0, nothing, MemberKind::empty), member("pointer", 0, kEight)});
  const TypePtr type = structure(
      "s", 24, {member("owner", 0, wrapper), member("_", 8, array(kByte, 8), MemberKind::gap), member("last", 16, kEight)});
  EXPECT_THAT(texts(type), ElementsAre("owner 0 8", "last 16 8"));
}

TEST(Paths, NameTheInnermostMemberAtAnOffset) {
  const TypePtr inner = structure("inner", 16, {member("a", 0, kEight), member("b", 8, kFour)});
  const TypePtr nothing = structure("Nothing", 1, {});
  const TypePtr outer = structure(
      "outer", 40, {member("e", 0, nothing, MemberKind::empty), member("x", 0, kEight), member("list", 8, array(inner, 2))});
  EXPECT_EQ(path_in(*outer, 0), ".x");
  EXPECT_EQ(path_in(*outer, 32), ".list[1].b");
  EXPECT_EQ(path_in(*outer, 37), ".list[1]+13");
}

}  // namespace
}  // namespace linebounce::types
