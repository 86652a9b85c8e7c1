#include "sim/answer/family_order.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

namespace linebounce::sim {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

RangeRow rates(double mcs, double ticket) {
  return {RangeValue{mcs, 1}, RangeValue{ticket, 1}};
}

FamilyOrder order_of(std::vector<RangeRow> changed) {
  FamilyOrder order;
  order.family = "intel_mesh";
  order.alternatives = {"mcs", "ticket"};
  order.assumed = rates(120, 100);
  for (std::size_t i = 0; i < changed.size(); ++i)
    order.changes.push_back({"machine.cpu.hold_ns", std::int64_t{0}, static_cast<std::int64_t>(10 + i)});
  order.changed = std::move(changed);
  return order;
}

TEST(FamilyOrder, SurvivesWhereTheFirstLeadsWithEveryValueOfTheRange) {
  const std::string text = family_order_text(order_of({rates(150, 100), rates(110, 100)}));
  EXPECT_THAT(text, StartsWith("The order survives all 2 changes in what is taken from intel_mesh"));
  EXPECT_THAT(text, HasSubstr("mcs leads by 10 % to 50 %"));
  EXPECT_THAT(family_order_text(order_of({rates(150, 100), rates(230, 100)})),
              HasSubstr("mcs leads by 50 % to a factor of 2.3"));
}

TEST(FamilyOrder, DoesNotSurviveIfAValueOfTheRangeTurnsItAndTheValueIsNamed) {
  const std::string text = family_order_text(order_of({rates(150, 100), rates(100, 130)}));
  EXPECT_THAT(text, StartsWith("The order does not survive the 2 changes"));
  EXPECT_THAT(text, HasSubstr("ticket passes mcs with cpu.hold_ns = 11 (assumed: 0)"));
  EXPECT_THAT(text, HasSubstr("It survives the other 1."));
}

TEST(FamilyOrder, IsNotTurnedByLessThanAPercentOrWithinTheIntervals) {
  EXPECT_THAT(family_order_text(order_of({rates(100, 100.9)})), Not(HasSubstr("passes")));
  EXPECT_THAT(family_order_text(order_of({rates(150, 100), rates(100, 100.9)})),
              HasSubstr("with 1 of them mcs can't be told apart from the runner-up"));
  RangeRow close = rates(100, 103);
  close[0]->interval = 2;
  EXPECT_THAT(family_order_text(order_of({close})), Not(HasSubstr("passes")));
}

TEST(FamilyOrder, OfATimeIsThatOfTheSmallest) {
  FamilyOrder order = order_of({rates(150, 100)});
  order.better = Better::lower;
  EXPECT_THAT(family_order_text(order), StartsWith("The order survives the only change"));
  order.changed = {rates(100, 150)};
  EXPECT_THAT(family_order_text(order), HasSubstr("mcs passes ticket"));
}

TEST(FamilyOrder, IsNotToldIfAnAlternativeHasNotFinished) {
  FamilyOrder order = order_of({rates(150, 100)});
  order.assumed[1] = std::nullopt;
  EXPECT_THAT(family_order_text(order), IsEmpty());
}

}  // namespace
}  // namespace linebounce::sim
