// The checker's findings on MESI with one thing broken at a time.
#include "models/coherence/checker/check_protocol.hpp"

#include <gmock/gmock.h>

#include <string>

#include "models/coherence/checker/counterexample.hpp"
#include "tests/models/coherence/checker/mutants.hpp"
#include "tests/models/coherence/shipped.hpp"

namespace linebounce::test {
namespace {

using testing::HasSubstr;

class Checker : public testing::Test {
 protected:
  // The first violation; the test fails if there is none.
  Violation violation(const CheckOptions& options = {}) {
    const CheckResult result = check_protocol(mesi, options);
    EXPECT_TRUE(result.violation);
    EXPECT_FALSE(result.proved(options));
    return result.violation.value_or(Violation{});
  }
  StateId state(const std::string& name) { return state_of(mesi, name); }

  Protocol mesi = shipped_protocol("mesi_snoop");
};

TEST_F(Checker, FindsAWriterBesideAReader) {
  drop(row_of(mesi, "S", "Other_GetS"), Verb::assert_shared);
  const Violation found = violation();
  EXPECT_EQ(found.property, Property::single_writer);
  EXPECT_THAT(found.text, HasSubstr("(in E) can write while cache"));
  // Three misses of three steps each: the first reader gets the line in E, the second read makes that S, and the third reader
  // is told that it is alone.
  EXPECT_EQ(found.steps.size(), 9U);
}

TEST_F(Checker, DoesNotAskForASingleWriterWhereTheFileDeclaresNone) {
  drop(row_of(mesi, "S", "Other_GetS"), Verb::assert_shared);
  mesi.invariant_swmr = false;
  // One step more than in the test above: the writer must write before the reader reads.
  EXPECT_EQ(violation().property, Property::data_value);
  EXPECT_EQ(violation().steps.size(), 10U);
  mesi.invariant_data_value = false;
  EXPECT_EQ(check_protocol(mesi, {}).violation, std::nullopt);
}

TEST_F(Checker, FindsAStaleCopy) {
  Row& row = row_of(mesi, "M", "Other_GetS");
  row.actions[2].argument = to_requestor;  // memory then keeps the old data
  const Violation found = violation();
  EXPECT_EQ(found.property, Property::data_value);
  EXPECT_THAT(found.text, HasSubstr("reads a copy with the value 0, but 1 was written last"));
}

TEST_F(Checker, FindsWhatTheTableCallsImpossible) {
  row_of(mesi, "MI_A", "Other_GetM").impossible = true;
  const Violation found = violation();
  EXPECT_EQ(found.property, Property::impossible_pair);
  EXPECT_THAT(found.text, HasSubstr("state MI_A, event Other_GetM"));
}

TEST_F(Checker, FindsTwoSuppliers) {
  drop(row_of(mesi, "M", "Other_GetS"), Verb::assert_owned);
  EXPECT_EQ(violation().property, Property::one_supplier);
}

TEST_F(Checker, FindsTwoBusDriversEvenIfOnlyOneSuppliesTheRequestor) {
  Row& row = row_of(mesi, "M", "Other_GetS");
  drop(row, Verb::assert_owned);
  row.actions[1].argument = to_memory;
  const Violation found = violation();
  EXPECT_EQ(found.property, Property::one_supplier);
  EXPECT_THAT(found.text, HasSubstr("memory put data on the bus in the same order step"));
}

// A store that changes one of two copies in S: the next reader is offered the old line and the new one.
TEST_F(Checker, FindsOffersOfDifferentData) {
  mesi = shipped_protocol("illinois_atomic");
  mesi.invariant_swmr = mesi.invariant_data_value = false;
  row_of(mesi, "S", "Store").actions[0] = {Verb::hit};
  const Violation found = violation();
  EXPECT_EQ(found.property, Property::one_supplier);
  EXPECT_THAT(found.text, HasSubstr("offer different data in the same order step"));
}

TEST_F(Checker, FindsARequestorWithoutData) {
  drop(memory_row_of(mesi, "GetS [clean]"), Verb::send_data);
  EXPECT_EQ(violation().property, Property::data_arrives);
  EXPECT_EQ(violation().steps.size(), 2U);
}

TEST_F(Checker, FindsAForgottenRequest) {
  row_of(mesi, "SM_AD", "Other_GetM").next = state("S");
  const Violation found = violation();
  EXPECT_EQ(found.property, Property::accounted);
  EXPECT_THAT(found.text, HasSubstr("has forgotten"));
}

TEST_F(Checker, FindsAWaitForNothing) {
  drop(row_of(mesi, "M", "Evict"), Verb::issue);
  EXPECT_EQ(violation().property, Property::accounted);
  EXPECT_THAT(violation().text, HasSubstr("waits, but no request of it is under way"));
}

TEST_F(Checker, FindsADeadlock) {
  for (const char* event : {"Load", "Store"}) {
    Row& row = row_of(mesi, "I", event);
    row.next = 0;
    row.actions[0] = {Verb::stall};
  }
  EXPECT_EQ(violation().property, Property::no_deadlock);
  EXPECT_TRUE(violation().steps.empty());
}

TEST_F(Checker, FindsARequestThatCanNeverFinish) {
  mesi = shipped_protocol("mesi_snoop_upgrade_retry");
  Row& row = row_of(mesi, "IM_AD", "Own_GetM");
  row.next = state("IU_A");
  row.count = 1;
  row.actions[0] = row_of(mesi, "S", "Store").actions[0];  // an Upgrade becomes a GetM, which becomes an Upgrade
  const Violation found = violation({.caches = 1});
  EXPECT_EQ(found.property, Property::can_finish);
  ASSERT_EQ(found.steps.size(), 1U);
  EXPECT_EQ(found.steps[0].kind, StepKind::store);
}

TEST_F(Checker, FindsARowThatNeverRuns) {
  Row& row = row_of(mesi, "S", "Own_GetS [alone]");
  row.impossible = false;
  row.source_line = 77;
  const CheckOptions options;
  const CheckResult result = check_protocol(mesi, options);
  EXPECT_FALSE(result.violation);
  EXPECT_FALSE(result.proved(options));
  ASSERT_EQ(result.unreached.size(), 1U);
  EXPECT_EQ(result.unreached[0].state, state("S"));
  EXPECT_EQ(result.unreached[0].source_line, 77);
}

TEST_F(Checker, DoesNotBlameRowsThatTwoCachesCannotRun) {
  const CheckOptions options{.caches = 2};
  const CheckResult result = check_protocol(mesi, options);
  // With two caches, Other_PutM never runs in S and SM_AD, for which there must be a writer and two sharers.
  EXPECT_EQ(result.unreached.size(), 2U);
  EXPECT_TRUE(result.proved(options));
}

TEST_F(Checker, CountsTheStatesOfOneCacheThatAnybodyCanCount) {
  // States of a system with one cache. The value written last doubles all of them; memory's value doubles those in which the
  // cache owns the line. So there are 2 each with I, E, IS_AD, IM_AD, IE_D and IM_D, and 4 each with M and MI_A. The bus's
  // value is always memory's.
  EXPECT_EQ(check_protocol(mesi, {.caches = 1}).states, 20U);
}

TEST_F(Checker, JudgesBrokenProtocolsAlikeWithAndWithoutSymmetry) {
  const std::vector<Mutant> mutants = mutants_of(mesi);
  for (std::size_t i = 0; i < mutants.size(); i += 9) {
    const Protocol mutant = mutants[i].of(mesi);
    const CheckResult with = check_protocol(mutant, {.symmetry = true});
    const CheckResult without = check_protocol(mutant, {.symmetry = false});
    ASSERT_EQ(with.violation.has_value(), without.violation.has_value()) << mutants[i].name;
    EXPECT_EQ(with.unreached.size(), without.unreached.size()) << mutants[i].name;
    if (!with.violation) continue;
    EXPECT_EQ(with.violation->steps.size(), without.violation->steps.size()) << mutants[i].name;
  }
}

TEST_F(Checker, StopsAtItsMemoryLimitAndSaysSo) {
  try {
    check_protocol(mesi, {.caches = 7, .memory_limit_mib = 1});
    FAIL() << "nothing was thrown";
  } catch (const CheckTooLarge& error) {
    EXPECT_THAT(error.what(), HasSubstr("nothing is proved"));
    EXPECT_THAT(error.what(), HasSubstr("1 MiB hold no more; try fewer caches"));
  }
}

TEST_F(Checker, RefusesMoreMessagesThanAStateCanName) {
  mesi.messages.resize(16);
  EXPECT_THROW(check_protocol(mesi, {}), CheckTooLarge);
}

}  // namespace
}  // namespace linebounce::test
