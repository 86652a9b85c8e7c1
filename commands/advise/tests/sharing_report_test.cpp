#include "commands/advise/sharing_report.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/sim/terminal/plain.hpp"

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
}

TEST(SharingReport, WhereCostsMayBeMissingNothingFoundIsNoVerdict) {
  SharingReport report = of_one_line();
  report.limits = trace::Limits({{"killed", trace::Bearing::may_add, "The program was killed."}});
  EXPECT_THAT(advice(report), StartsWith("Lines are shared falsely, but no change"));
  report.cheap = 2;
  EXPECT_THAT(advice(report), StartsWith("No verdict; in what was recorded, all misses on the costliest lines"));
  report.lines.clear();
  EXPECT_EQ(advice(report), "No verdict: no line of what was recorded is shared falsely, or it costs nothing.");
}

TEST(SharingReport, AGainStandsWhereOnlyMoreCostsMayBeMissing) {
  SharingReport report = of_one_line();
  report.tried = {tried({4, 3, 5})};
  report.again = ConfirmedProposal{"slots", {4, 3, 5}};
  const std::string gains = advice(report);
  report.limits = trace::Limits({{"killed", trace::Bearing::may_add, "The program was killed."}});
  EXPECT_EQ(advice(report), gains);
  report.limits = trace::Limits({{"shared_memory", trace::Bearing::may_reverse, "Another process shares `queue`."}});
  EXPECT_EQ(advice(report), "No verdict. No change of a layout was tried.");
}

TEST(SharingReport, BeginsWithWhatLimitsIt) {
  SharingReport report = of_one_line();
  report.lines.clear();
  report.limits = trace::Limits({{"killed", trace::Bearing::may_add, "The program was killed."}});
  EXPECT_THAT(sharing_text(report, {}, 5, kPlain), StartsWith("  The program was killed.\n"));
  EXPECT_THAT(sharing_json(report, {})["advice"].get<std::string>(), StartsWith("The program was killed. No verdict: "));
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
