#include "evidence/validation_page.hpp"

#include <gmock/gmock.h>

#include <sstream>

namespace linebounce::sim {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ValidatedRow row_of(const std::string& id, PaperKind kind, double published, double simulated, bool ok) {
  ValidatedRow row{"validation/e", "m", "lock", {}};
  row.result.row.id = id;
  row.result.row.metrics = {"cost.x"};
  row.result.row.kind = kind;
  row.result.row.value = published;
  row.result.simulated = simulated;
  row.result.unit = "ns";
  row.result.ok = ok;
  return row;
}

ValidatedRow no_effect(const std::string& id, double simulated, ChangeSign sign) {
  ValidatedRow row = row_of(id, PaperKind::predicted, 0, simulated, sign == ChangeSign::none);
  row.result.row.value.reset();
  row.result.row.sign = ChangeSign::none;
  row.result.row.relative_to.emplace();
  row.result.unit = "";
  row.result.change = SimulatedChange{simulated, std::nullopt, sign};
  return row;
}

Validation some() {
  Validation validation;
  validation.experiments = 3;
  validation.rows = {
      row_of("m.l2", PaperKind::calibrated, 10, 10.1, true),  row_of("a.near", PaperKind::predicted, 100, 110, true),
      row_of("a.far", PaperKind::predicted, 100, 150, false), no_effect("a.padded", 0.05, ChangeSign::loss),
      no_effect("a.aligned", 0.001, ChangeSign::none),        row_of("ols.x", PaperKind::predicted, 10, 90, false)};
  validation.rows[0].family = kLatencies;
  validation.rows[1].first = FirstRun{"2026-11-23", {130}, std::nullopt, std::nullopt, false};
  validation.rows[2].result.row.why_off = "its prefetcher is not modelled";
  validation.rows[5].family = kDocuments;
  return validation;
}

TEST(ValidationPage, PredictionsAreCountedBySubjectAndMachineWithoutTheFiveDocuments) {
  const Validation validation = some();
  const ValidationScore score = score_of(validation, {});
  EXPECT_EQ(score.rows, 4);
  EXPECT_EQ(score.errors.size(), 2U);
  EXPECT_EQ(score.signs.right, 1);
  EXPECT_EQ(score.signs.of, 2);
  EXPECT_EQ(score_of(validation, {PaperKind::predicted, std::string(kDocuments)}).rows, 1);
  EXPECT_EQ(score_of(validation, {PaperKind::predicted, "", "m"}).rows, 4);
  EXPECT_EQ(score_of(validation, {PaperKind::predicted, std::string(kLatencies)}).rows, 0);
  EXPECT_EQ(score_of(validation, {}, true).rows, 1);
  Validation latencies = some();
  latencies.rows[0].result.row.kind = PaperKind::predicted;
  EXPECT_EQ(score_of(latencies, {}).rows, 4) << "a predicted latency is too much like what was fitted";
  EXPECT_EQ(score_of(latencies, {PaperKind::predicted, std::string(kLatencies)}).rows, 1);
}

TEST(ValidationPage, MissesHaveTheirReasonsAndFirstRunsStandBesideTodays) {
  const std::string page = validation_page(some(), Painter(false, kTerminalWidth));
  EXPECT_THAT(page, HasSubstr("6 rows of 3 experiments on 1 machine"));
  EXPECT_THAT(page, HasSubstr("its prefetcher is not modelled"));
  EXPECT_THAT(page, HasSubstr("no reason known"));
  EXPECT_THAT(page, HasSubstr("wrong sign"));
  EXPECT_THAT(page, HasSubstr("a.near: 130 ns on 2026-11-23, now 110 ns"));
  EXPECT_LT(page.find("a.padded"), page.find("a.far"));
  EXPECT_THAT(page, Not(HasSubstr("a.aligned")));
}

TEST(ValidationPage, ARunThatWasNotTheFirstIsNotCountedAsOne) {
  Validation validation = some();
  validation.rows[1].first->is_first = false;
  EXPECT_EQ(score_of(validation, {}, true).rows, 0);
  const std::string page = validation_page(validation, Painter(false, kTerminalWidth));
  EXPECT_THAT(page, HasSubstr("1 row recorded after an earlier run"));
  EXPECT_THAT(page, Not(HasSubstr("on 2026-11-23, now")));
}

TEST(ValidationPage, WhatMovedByLessThanIsPrintedIsNotListedAsMoved) {
  Validation validation = some();
  validation.rows[1].first->simulated = {110.001};
  EXPECT_THAT(validation_page(validation, Painter(false, kTerminalWidth)), Not(HasSubstr("on 2026-11-23, now")));
}

TEST(ValidationPage, EveryLineFitsTheTerminal) {
  for (const std::size_t columns : {kNarrowestTerminal, kTerminalWidth}) {
    std::istringstream page(validation_page(some(), Painter(false, columns, columns)));
    for (std::string line; std::getline(page, line);) EXPECT_LE(width_of(line), columns) << line;
  }
}

}  // namespace
}  // namespace linebounce::sim
