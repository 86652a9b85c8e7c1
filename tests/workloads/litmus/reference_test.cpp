// The enumerators of allowed outcomes, compared with verdicts by hand and with each other.
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

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

// A test of two or three threads with up to six statements in all, of every kind.
LitmusTest random_test(std::mt19937& random) {
  const auto below = [&random](int bound) { return static_cast<int>(random() % static_cast<unsigned>(bound)); };
  const auto word = [&] { return std::string(1, "xyz"[below(3)]); };
  std::vector<std::string> texts(static_cast<std::size_t>(2 + below(2)));
  int registers = 0;
  std::string asks = "x=1 y=1 z=1";
  for (std::string& text : texts) {
    for (int i = 1 + below(texts.size() == 2 ? 3 : 2); i > 0; --i) {
      const int kind = below(8);
      const std::string reg = "r" + std::to_string(registers), value = std::to_string(1 + below(2));
      text += text.empty() ? "" : "; ";
      if (kind < 3) {
        text += word() + (kind == 0 ? " =rel " : " = ") + value;
      } else if (kind < 6) {
        text += reg + (kind == 3 ? " =acq " : " = ") + word();
      } else {
        text += kind == 6 ? std::string("fence") : reg + " = exchange " + word() + " " + value;
      }
      if ((kind >= 3 && kind < 6) || kind == 7) asks += " " + reg + "=" + std::to_string(below(2)), ++registers;
    }
  }
  return parse_litmus_test("random", "", {texts.begin(), texts.end()}, asks);
}

TEST(LitmusReference, OneOfSeveralEqualOrdersHasTheOutcomesOfAll) {
  std::mt19937 random(1);
  constexpr ReferenceLimits kAll = {.states = 3'000'000, .one_of_equals = false};
  for (int i = 0; i < 150; ++i) {
    const LitmusTest test = random_test(random);
    SCOPED_TRACE(i);
    for (const Consistency model : {Consistency::sc, Consistency::tso, Consistency::ia64})
      EXPECT_EQ(allowed_outcomes(test, model), allowed_outcomes(test, model, kAll)) << name_of(model);
    EXPECT_EQ(outcomes_with_store_buffers(test, false), outcomes_with_store_buffers(test, false, kAll));
  }
}

// A test in which each of seven threads writes.
LitmusTest seven_writers(bool own_words) {
  std::vector<std::string> texts;
  for (int i = 0; i < 7; ++i) texts.push_back(std::string(1, own_words ? "xyzabcd"[i] : 'x') + " = " + std::to_string(i + 1));
  return parse_litmus_test("seven", "", {texts.begin(), texts.end()}, "x=1");
}

TEST(LitmusReference, OrdersThatNoThreadCanTellApartCostNothing) {
  constexpr ReferenceLimits kFew = {.states = 2000};
  for (const Consistency model : {Consistency::sc, Consistency::tso, Consistency::ia64})
    EXPECT_EQ(allowed_outcomes(seven_writers(true), model, kFew).size(), 1U) << name_of(model);
  for (const Consistency model : {Consistency::sc, Consistency::tso})
    EXPECT_EQ(allowed_outcomes(seven_writers(false), model, kFew).size(), 7U) << name_of(model);
  EXPECT_THROW(allowed_outcomes(seven_writers(true), Consistency::tso, {.states = 2}), TooManyOrders);
}

// Coherence ranks seven stores to one word in 5040 ways, and each of seven processors may see them at other times.
TEST(LitmusReference, GivesUpAtItsLimitOfStates) {
  EXPECT_THROW(allowed_outcomes(seven_writers(false), Consistency::ia64), TooManyOrders);
  const std::vector<std::string> nine(9, "x = 1");
  EXPECT_THROW(allowed_by_itanium(parse_litmus_test("nine", "", {nine.begin(), nine.end()}, "x=1")), TooManyOrders);
  std::string long_thread = "x = 1";
  for (int i = 0; i < 200; ++i) long_thread += "; y = 1";
  EXPECT_THROW(allowed_outcomes(parse_litmus_test("long", "", {long_thread}, "x=1"), Consistency::tso), TooManyOrders);
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
