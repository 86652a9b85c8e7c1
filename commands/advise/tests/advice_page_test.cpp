#include "commands/advise/advice_page.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "commands/advise/advised_changes.hpp"

namespace linebounce::sim {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kDied = "The program was killed by signal 6 (Aborted): what it would have done next was not recorded.";

const trace::Limits kKilled({{"killed", trace::Bearing::may_add, kDied}});
const trace::Limits kShared({{"shared_memory", trace::Bearing::may_reverse, "Another process shares `queue`."}});

AdvisedChange spread_counts() {
  return {.what = "spread counts", .edit = "", .gains = {{.machine = "m", .change = {10, 8, 12}, .confirmed = true}}};
}

// 60 % true sharing of a word, and 40 % computation.
AdvicePage page_with(const trace::Limits& limits) {
  AdvicePage page;
  page.trace = "t.lbt";
  page.machines = {"m"};
  TimeShare word;
  word.what = TimeClass::true_sharing;
  word.name = "hits";
  word.ticks = 60;
  TimeShare rest;
  rest.what = TimeClass::compute;
  rest.ticks = 40;
  TimeAccount account;
  account.machine = "m";
  account.all = 100;
  account.shares = {word, rest};
  page.time = {account};
  page.limits = limits;
  return page;
}

std::string text_of(const AdvicePage& page) {
  return advice_page_text(page, Painter(false, 400));
}

TEST(Rechecked, APredictionHoldsInItsIntervalAndWithinAFactorOfTwoOfItsMedian) {
  const auto held = [](double gain_pct) {
    return Rechecked{.predicted = {.median_pct = 12, .low_pct = 4, .high_pct = 21}, .gain_pct = gain_pct}.held();
  };
  for (const double gain : {4.0, 6.0, 12.0, 21.0, 24.0}) EXPECT_TRUE(held(gain)) << gain;
  for (const double gain : {-12.0, 0.0, 3.3, 24.1}) EXPECT_FALSE(held(gain)) << gain;
}

TEST(AdvicePage, WithoutLimitsBeginsWithTheVerdict) {
  EXPECT_THAT(text_of(page_with({})), StartsWith("  Nothing that was tried is worth changing: on m 60.0 %"));
}

TEST(AdvicePage, SaysHowTheProgramDiedBeforeItSaysThatItHasNoVerdict) {
  EXPECT_THAT(text_of(page_with(kKilled)),
              StartsWith(std::string("  ") + kDied +
                         "\n  No verdict: in what was recorded, nothing that was tried is worth changing: on m 60.0 %"));
  const std::string verdict = advice_page_json(page_with(kKilled))["verdict"];
  EXPECT_THAT(verdict, StartsWith(std::string(kDied) + " No verdict: "));
}

TEST(AdvicePage, KeepsAGainThatOnlyMoreCostsCouldJoin) {
  AdvicePage page = page_with(kKilled);
  page.changes = {spread_counts()};
  EXPECT_THAT(text_of(page), HasSubstr("recorded.\n  One change is worth making, by replays of t.lbt."));
  page.conditional = {std::move(page.changes.front())};
  page.changes.clear();
  EXPECT_THAT(text_of(page), HasSubstr(", to spread counts: +10.0 % (8.0 to 12.0) on m."));
}

TEST(AdvicePage, NamesAConditionalChangeFirstIfNoOtherGainsAsMuch) {
  AdvicePage page = page_with({});
  page.changes = {spread_counts()};
  AdvisedChange batch = spread_counts();
  batch.what = "batch counts";
  batch.only_if = "nobody needs the sum";
  batch.gains.front().change = {5, 4, 6};
  page.conditional = {batch};
  EXPECT_THAT(text_of(page), Not(HasSubstr("A larger gain")));
  page.conditional.front().gains.front().change = {50, 40, 60};
  EXPECT_THAT(text_of(page),
              StartsWith("  One change is worth making, by replays of t.lbt. A larger gain has a condition: +50.0 %"));
  EXPECT_THAT(text_of(page), HasSubstr("on m, only if nobody needs the sum, to batch counts.\n"));
}

TEST(AdvicePage, HasNoVerdictAndNoChangeWhereTheRecordingCouldMeanTheOpposite) {
  AdvicePage page = page_with(kShared);
  EXPECT_THAT(text_of(page), StartsWith("  Another process shares `queue`.\n  No verdict. In what was recorded, on m 60.0 %"));
  AdvicePage sound = page_with({});
  sound.changes = {spread_counts()};
  join_recordings(sound, {page, page});
  EXPECT_THAT(text_of(sound), StartsWith("  Another process shares `queue`.\n  No verdict."));
  EXPECT_THAT(text_of(sound), Not(HasSubstr("spread counts")));
}

// What stands before the verdict is not repeated among what was not seen.
TEST(AdvicePage, ListsWhatElseWasNotSeenAfterTheVerdict) {
  AdvicePage page = page_with(kKilled);
  page.missing = {trace::facts_text(trace::Loss::killed, "", "was killed"), trace::facts_text(trace::Loss::own_locks, "")};
  EXPECT_THAT(text_of(page), HasSubstr("not seen  locks that the program makes of atomic operations"));
  EXPECT_THAT(text_of(page), Not(HasSubstr("what came after")));
}

}  // namespace
}  // namespace linebounce::sim
