#include "commands/advise/advised_changes.hpp"

#include <gmock/gmock.h>

namespace linebounce::sim {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

AdvisedChange change_of(const std::string& what, OrdersChange gain) {
  return {.what = what, .edit = "", .gains = {{.machine = "m", .change = gain, .confirmed = true}}};
}

AdvicePage page_advising(std::vector<AdvisedChange> changes) {
  AdvicePage page;
  page.trace = "t.lbt";
  page.machines = {"m"};
  page.changes = std::move(changes);
  return page;
}

TEST(AdviceOnLayouts, SaysThatTransfersRemainOrThatThereAreMore) {
  MachineAdvice machine;
  machine.sharing.machine = "m";
  machine.time.emplace().shares = {{.what = TimeClass::true_sharing, .name = "sum.of_all"}};
  EXPECT_EQ(remains_text(12000, 1234, machine, "pad counts"),
            "On m 1 234 of 12 000 transfers of lines remain, most on sum.of_all.");
  EXPECT_EQ(remains_text(1234, 12000, machine, "pad counts"),
            "On m there are more transfers of lines, 12 000 instead of 1 234, most on sum.of_all.");
}

TEST(AdviceOfSeveralRecordings, IsWhatMostOfThemAdviseWithTheMedianOfTheirGains) {
  AdvicePage page = page_advising({change_of("spread counts", {10, 8, 12})});
  join_recordings(page, {page_advising({change_of("spread counts", {30, 20, 45})}),
                         page_advising({change_of("spread counts", {12, 11, 13})})});
  ASSERT_THAT(page.changes, SizeIs(1));
  EXPECT_EQ(page.changes[0].recordings, 3);
  const OrdersChange& gain = page.changes[0].gains[0].change;
  EXPECT_DOUBLE_EQ(gain.median_pct, 12);
  EXPECT_DOUBLE_EQ(gain.low_pct, 8);
  EXPECT_DOUBLE_EQ(gain.high_pct, 45);
  const std::string text = advice_page_text(page, Painter(false, 200));
  EXPECT_THAT(text, HasSubstr("One change is worth making, by replays of 3 recordings, t.lbt and others."));
  EXPECT_THAT(text, HasSubstr("advised by 3 of 3 recordings"));
}

TEST(AdviceOfSeveralRecordings, LeavesOutWhatHalfOfThemAdviseAndSaysSo) {
  AdvicePage page = page_advising({change_of("spread counts", {10, 8, 12})});
  join_recordings(page, {page_advising({})});
  EXPECT_THAT(page.changes, IsEmpty());
  const std::string text = advice_page_text(page, Painter(false, 200));
  EXPECT_THAT(text, HasSubstr("Nothing that was tried is worth changing."));
  EXPECT_THAT(text, HasSubstr("Only in 1 of 2 recordings, so by how threads happened to meet there: spread counts, +10.0 %"));
}

TEST(AdviceOfSeveralRecordings, HasWhatTheFirstOneAloneDidNotAdvise) {
  AdvicePage page = page_advising({});
  page.depends = {change_of("spread counts", {10, 8, 12})};
  AdvicePage other = page_advising({change_of("spread counts", {10, 8, 12})});
  other.missing = {"two threads were not recorded"};
  join_recordings(page, {other, other});
  ASSERT_THAT(page.changes, SizeIs(1));
  EXPECT_EQ(page.changes[0].recordings, 2);
  EXPECT_THAT(page.depends, IsEmpty());
  EXPECT_THAT(page.missing, SizeIs(1));
}

}  // namespace
}  // namespace linebounce::sim
