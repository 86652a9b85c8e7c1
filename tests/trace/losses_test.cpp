#include "trace/losses.hpp"

#include <gtest/gtest.h>

#include <set>

namespace linebounce::trace {
namespace {

TEST(Losses, AStoredSentenceIsOfTheRowThatMadeIt) {
  for (const LossKind& kind : kLossKinds) {
    const std::string sentence = fmt::format(fmt::runtime(kind.sentence), "perf c2c", "12 of 14");
    const LossKind* found = kind_of_sentence(sentence);
    ASSERT_NE(found, nullptr) << sentence;
    EXPECT_EQ(found->name, kind.name) << sentence;
  }
}

TEST(Losses, ASentenceOfAnotherOriginHasNoRow) {
  EXPECT_EQ(kind_of_sentence("3 spins inside a lock's section are in it as loads"), nullptr);
  EXPECT_EQ(kind_of_sentence(""), nullptr);
}

TEST(Losses, StandBeforeAVerdictWithTheirDetails) {
  for (const LossKind& kind : kLossKinds) {
    const std::string sentence = fmt::format(fmt::runtime(kind.sentence), "perf c2c", "12\nof 14");
    const std::string before = before_verdict(kind, sentence);
    EXPECT_EQ(before.find('{'), before.npos) << before;
    if (kind.before_verdict.empty()) continue;
    EXPECT_EQ(before.find('\n'), before.npos) << before;
    const bool has_detail = kind.before_verdict.find("{1}") != before.npos;
    EXPECT_EQ(before.find("12 of 14") != before.npos, has_detail) << before;
  }
}

TEST(Losses, NamesAreUnique) {
  std::set<std::string_view> names;
  for (const LossKind& kind : kLossKinds) EXPECT_TRUE(names.insert(kind.name).second) << kind.name;
}

}  // namespace
}  // namespace linebounce::trace
