#include "sim/terminal/sharing_report.hpp"

#include <gmock/gmock.h>

namespace linebounce::sim {
namespace {

using testing::EndsWith;
using testing::StartsWith;

SharingReport of_one_line() {
  SharingReport report;
  report.machine = "m";
  report.lines.push_back({{}, 12.5, 300});
  report.orders = 3;
  return report;
}

TriedProposal tried(OrdersChange change) {
  TriedProposal out;
  out.proposal.name = "slots";
  out.proposal.sentence = "give each slot a line of its own";
  out.change = change;
  return out;
}

TEST(SharingReport, WhatIsTooCheapToGainAnythingIsNotTriedAndTheVerdictSaysHowCheap) {
  SharingReport report = of_one_line();
  report.cheap = 2;
  report.cheap_pct = 0.0912;
  EXPECT_EQ(
      advice(report),
      "Leave the layouts as they are: all misses on the costliest lines that could be changed take 0.091 % of the run's time.");
  report.missing = {"atomic instructions in take of ./program"};
  ASSERT_TRUE(trace::has_unseen_atomics(report.missing));
  EXPECT_THAT(advice(report), StartsWith("No verdict, for the program has atomic operations that were not recorded: "));
}

TEST(SharingReport, ALineThatNoProposalChangesIsNamedWhateverTheOthersGain) {
  SharingReport report = of_one_line();
  report.uncured = UncuredLine{0, 7.25};
  constexpr const char* kUncured = "No proposal changes the costliest line, whose 300 misses take 7.2 % of the run's time.";
  report.tried = {tried({0.2, -1, 1})};
  EXPECT_THAT(advice(report), EndsWith(std::string("no proposal gains as much as 1 % by more than chance. ") + kUncured));
  report.tried = {tried({4, 3, 5})};
  report.again = ConfirmedProposal{"slots", {4, 3, 5}};
  EXPECT_THAT(advice(report), EndsWith(std::string("throughput on m. ") + kUncured));
  report.uncured.reset();
  EXPECT_THAT(advice(report), EndsWith("throughput on m"));
}

}  // namespace
}  // namespace linebounce::sim
