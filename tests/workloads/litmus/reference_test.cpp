// The enumerators of allowed outcomes, compared with verdicts by hand and with each other.
#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/workloads/litmus/litmus_support.hpp"
#include "tests/workloads/litmus/verdicts.hpp"

namespace linebounce::test {

using namespace workloads;

namespace {

bool asked_is_among(const LitmusTest& test, const std::set<LitmusOutcome>& outcomes) {
  return std::any_of(outcomes.begin(), outcomes.end(), [&test](const LitmusOutcome& o) { return test.asks_for(o); });
}

bool contains_all(const std::set<LitmusOutcome>& large, const std::set<LitmusOutcome>& small) {
  return std::includes(large.begin(), large.end(), small.begin(), small.end());
}

TEST(LitmusCatalogue, HasAVerdictOnEachTestAndNoOther) {
  EXPECT_GE(litmus_texts().size(), 20U);
  ASSERT_EQ(litmus_texts().size(), kVerdicts.size());
  std::set<std::string> names;
  for (const LitmusText& text : litmus_texts()) {
    const LitmusTest test = text.parsed();
    EXPECT_NO_THROW(verdict_on(test.name)) << test.name;
    EXPECT_FALSE(test.asks.empty()) << test.name;
    names.insert(test.name);
  }
  EXPECT_EQ(names.size(), litmus_texts().size()) << "a name was given twice";
}

TEST(LitmusReference, ForbidsAndAllowsWhatTheVerdictsSay) {
  for (const LitmusText& text : litmus_texts()) {
    const LitmusTest test = text.parsed();
    for (const Consistency model : {Consistency::sc, Consistency::tso, Consistency::ia64}) {
      const bool allowed = verdict_on(test.name).under(model) != Seen::forbidden;
      EXPECT_EQ(asked_is_among(test, allowed_outcomes(test, model)), allowed) << test.name << " under " << name_of(model);
    }
  }
}

// Each model allows everything that a stronger one does; a machine whose stores drain out of order does nothing that ia64
// forbids.
TEST(LitmusReference, WeakerModelsAllowMore) {
  for (const LitmusText& text : litmus_texts()) {
    const LitmusTest test = text.parsed();
    const auto sc = allowed_outcomes(test, Consistency::sc);
    const auto tso = allowed_outcomes(test, Consistency::tso);
    const auto buffers = outcomes_with_store_buffers(test, false);
    EXPECT_FALSE(sc.empty()) << test.name;
    EXPECT_TRUE(contains_all(tso, sc)) << test.name;
    EXPECT_TRUE(contains_all(buffers, tso)) << test.name;
    EXPECT_TRUE(contains_all(allowed_outcomes(test, Consistency::ia64), buffers)) << test.name;
  }
}

// The verdicts' list of outcomes that the machine cannot produce is complete, and each entry has a reason.
TEST(LitmusReference, ListsTheOutcomesThatTheMachineCannotProduce) {
  for (const LitmusText& text : litmus_texts()) {
    const LitmusTest test = text.parsed();
    const Verdict& verdict = verdict_on(test.name);
    const bool listed = verdict.under(Consistency::ia64) == Seen::not_by_this_machine;
    EXPECT_EQ(listed, !verdict.why.empty()) << test.name;
    std::set<LitmusOutcome> missing = allowed_outcomes(test, Consistency::ia64);
    for (const LitmusOutcome& outcome : outcomes_with_store_buffers(test, false)) missing.erase(outcome);
    EXPECT_EQ(missing.size(), listed ? 1U : 0U) << test.name;
    EXPECT_EQ(asked_is_among(test, missing), listed) << test.name;
  }
}

TEST(LitmusReference, EachMissingOrderingIsNoticed) {
  const auto allows = [](const std::vector<std::string_view>& threads, std::string_view asks) {
    const LitmusTest test = parse_litmus_test("changed", "", threads, asks);
    return asked_is_among(test, allowed_outcomes(test, Consistency::ia64));
  };
  EXPECT_FALSE(allows({"x = 1; y =rel 1", "r0 =acq y; r1 = x"}, "r0=1 r1=0"));
  EXPECT_TRUE(allows({"x = 1; y = 1", "r0 =acq y; r1 = x"}, "r0=1 r1=0")) << "release";
  EXPECT_TRUE(allows({"x = 1; y =rel 1", "r0 = y; r1 = x"}, "r0=1 r1=0")) << "acquire";
  EXPECT_FALSE(allows({"r0 = x; y = r0", "r1 = y; x = r1"}, "r0=1 r1=1"));
  EXPECT_TRUE(allows({"r0 = x; y = 1", "r1 = y; x = r1"}, "r0=1 r1=1")) << "data";
  EXPECT_TRUE(allows({"x = 1; y =rel 1", "r0 = y; z = 1; r1 = z; r2 = x after r1"}, "r0=1 r1=1 r2=0"))
      << "data before a bypass";
}

TEST(LitmusText, AlternativesAndOtherValuesCanBeAskedFor) {
  const LitmusTest test = parse_litmus_test("two", "", {"x = 1; r0 = y", "y = 2; x = 2"}, "r0=2 x!=1 | r0=0 x=1");
  EXPECT_EQ(test.last_values.size(), 1U);
  EXPECT_TRUE(test.asks_for({2, 2}));
  EXPECT_FALSE(test.asks_for({2, 1}));
  EXPECT_TRUE(test.asks_for({0, 1}));
  EXPECT_THROW(parse_litmus_test("bad", "", {"x = 1"}, "x=1 |"), std::logic_error);
}

TEST(LitmusText, NamesTheTextThatCannotBeRead) {
  for (const char* bad : {"x", "x = ", "x == 1", "X = 1", "r0 = x behind r1", "r0 = exchange x", "fense", "await x"}) {
    try {
      parse_litmus_test("bad", "", {bad}, "x=1");
      ADD_FAILURE() << bad << " was taken";
    } catch (const std::logic_error& error) {
      EXPECT_NE(std::string(error.what()).find("bad"), std::string::npos) << bad;
    }
  }
}

}  // namespace
}  // namespace linebounce::test
