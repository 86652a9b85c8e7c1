#include "evidence/validation.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <limits>

#include "sim/results/result_files.hpp"

namespace linebounce::sim {
namespace {

using ::testing::ElementsAre;

PaperResult figure(const std::string& id, double published, double simulated, bool ok = true) {
  PaperResult result;
  result.row.id = id;
  result.row.metrics = {"cost.x"};  // less is better
  result.row.value = published;
  result.row.tolerance = 0.1;
  result.simulated = simulated;
  result.ok = ok;
  return result;
}

PaperResult change(const std::string& id, double published, double simulated, ChangeSign sign, bool ok = true) {
  PaperResult result = figure(id, published, simulated, ok);
  result.row.relative_to.emplace();
  result.change = SimulatedChange{simulated, std::nullopt, sign};
  return result;
}

PaperResult falling(const std::string& id, bool ok) {
  PaperResult result = figure(id, 0, 0, ok);
  result.row.value.reset();
  result.row.shape = Shape::decreasing;
  result.simulated.reset();
  result.series = {3, 2, 1};
  return result;
}

TEST(Validation, AFiguresErrorIsRelativeToWhatWasPublished) {
  EXPECT_DOUBLE_EQ(*simulated_over_published(figure("a", 50, 60)), 1.2);
  EXPECT_EQ(simulated_over_published(figure("a", 0, 60)), std::nullopt);
  PaperResult share = figure("a", 50, 60);
  share.row.table = "fig3";
  EXPECT_EQ(simulated_over_published(share), std::nullopt) << "judged in points of a percentage";
  PaperResult missing = figure("a", 50, 0, false);
  missing.simulated.reset();
  EXPECT_EQ(simulated_over_published(missing), std::numeric_limits<double>::infinity());
}

// +43 % published and +25 % simulated are compared as factors: 1.25 / 1.43. A published change of 14 % or less is only judged
// by its sign, because "no change" would be within 15 % of it.
TEST(Validation, AChangeIsAFactorAndASmallOneASignAlone) {
  EXPECT_NEAR(*simulated_over_published(change("a", 0.43, 0.25, ChangeSign::loss)), 0.874, 0.001);
  EXPECT_EQ(simulated_over_published(change("a", 0.14, 0, ChangeSign::none)), std::nullopt);
  EXPECT_EQ(simulated_over_published(change("a", -0.13, 0, ChangeSign::none)), std::nullopt);
  EXPECT_NEAR(*simulated_over_published(change("a", -0.5, -0.5, ChangeSign::gain)), 1, 1e-9);
  EXPECT_EQ(sign_is_right(change("a", 0.14, 0, ChangeSign::none)), false);
  EXPECT_EQ(sign_is_right(change("a", 0.14, 0.02, ChangeSign::loss)), true);
  EXPECT_EQ(sign_is_right(change("a", 0.005, 0, ChangeSign::none)), true);
  EXPECT_EQ(sign_is_right(figure("a", 1, 1)), std::nullopt);
}

TEST(Validation, AScoreCountsErrorsSignsAndOrdersApart) {
  ValidationScore score;
  for (const PaperResult& result : {figure("a", 100, 110), figure("b", 100, 80, false), figure("c", 100, 200, false),
                                    change("d", 0.05, -0.1, ChangeSign::gain, false), falling("e", true), falling("f", false)})
    count(score, result);
  PaperResult unfinished = figure("g", 100, 100);
  unfinished.ok.reset();
  count(score, unfinished);
  EXPECT_EQ(score.rows, 6);
  EXPECT_EQ(score.errors.size(), 3U);
  EXPECT_NEAR(*score.median_error(), 0.2, 1e-9);
  EXPECT_NEAR(*score.median_factor(), 1.25, 1e-9);
  EXPECT_EQ(score.within_15.right, 1);
  EXPECT_EQ(score.within_30.right, 2);
  EXPECT_EQ(score.within_30.of, 3);
  EXPECT_EQ(score.signs.right, 0);
  EXPECT_EQ(score.signs.of, 1);
  EXPECT_EQ(score.orders.right, 1);
  EXPECT_EQ(score.orders.of, 2);
  EXPECT_EQ(score.within_tolerance.right, 2);
  EXPECT_EQ(score.within_tolerance.of, 6);
  EXPECT_EQ(ValidationScore{}.median_error(), std::nullopt);
}

TEST(Validation, TheWorstMissComesFirst) {
  std::vector<ValidatedRow> rows;
  for (const PaperResult& result : {figure("near", 100, 105), figure("twice", 100, 200, false), figure("third", 100, 33, false),
                                    change("wrong", 0.05, -0.02, ChangeSign::gain), falling("order", false)})
    rows.push_back({"e", "m", "lock", result});
  std::vector<std::string> ids;
  for (const ValidatedRow* row : misses_of(rows)) ids.push_back(row->result.row.id);
  EXPECT_THAT(ids, ElementsAre("wrong", "order", "third", "twice"));
}

// The trivial guess for a figure is the median of the column's other figures. For a change it is no change, for a shape a
// flat one, for a share a third, a half or two thirds.
TEST(Validation, TheTrivialGuessKnowsOtherFiguresButNoCaches) {
  std::vector<PaperResult> rows = {figure("a", 50, 0), figure("b", 48, 0), figure("c", 52, 0), figure("d", 90, 0)};
  for (PaperResult& row : rows) row.row.metrics = {"locks." + row.row.id + ".con_pct"};
  std::vector<const PaperResult*> all;
  for (const PaperResult& row : rows) all.push_back(&row);
  EXPECT_TRUE(trivial_guess_is_right(rows[0], all)) << "the median of 48, 52 and 90";
  EXPECT_FALSE(trivial_guess_is_right(rows[3], all));
  EXPECT_FALSE(trivial_guess_is_right(figure("alone", 50, 50), {})) << "a column of one figure gives no guess";
  EXPECT_FALSE(trivial_guess_is_right(change("a", 0.43, 0.4, ChangeSign::loss), {}));
  EXPECT_FALSE(trivial_guess_is_right(falling("a", true), {}));
  PaperResult share = figure("share", 60, 0);
  share.row.table = "fig3";
  share.row.tolerance.reset();
  share.row.tolerance_abs = 10;
  EXPECT_TRUE(trivial_guess_is_right(share, {}));
  share.row.value = 80;
  EXPECT_FALSE(trivial_guess_is_right(share, {}));
}

TEST(Validation, HitsWithABreakAreCounted) {
  ValidationScore score;
  PaperResult row = figure("a", 50, 50);
  count(score, row);
  EXPECT_EQ(score.with_break, 0);
  row.row.broken_by = "free_transfers";
  count(score, row);
  row.ok = false;
  count(score, row);
  EXPECT_EQ(score.with_break, 1);
}

class FirstRuns : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "linebounce_record_XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_;
};

TEST_F(FirstRuns, ARowIsRecordedOnceWithTheParametersOfItsMachine) {
  const auto file = folder_ / "records/lru.json";
  EXPECT_TRUE(read_first_runs(file).empty());
  ValidatedRow row{"validation/lru", "p3_xeon_4way", "layout", change("c0ffee.rate", 0.43, 0.4, ChangeSign::loss)};
  const ValidatedRow order{"validation/lru", "mine", "layout", falling("c0ffee.order", true)};
  ValidatedRow unfinished = row;
  unfinished.result.row.id = "c0ffee.late";
  unfinished.result.ok.reset();
  EXPECT_EQ(record_first_runs(file, {row, order, unfinished}, "2026-11-23"), 2);
  const std::string text = read_file(file);
  EXPECT_THAT(text, ::testing::HasSubstr("\"cpu.clock_mhz\": 700"));
  EXPECT_THAT(text, ::testing::Not(::testing::HasSubstr("\"mine\": {"))) << "no machine that ships";
  row.result.simulated = 0.5;
  EXPECT_EQ(record_first_runs(file, {row, order}, "2026-11-24"), 0);
  EXPECT_EQ(read_file(file), text);

  const auto first = read_first_runs(file);
  ASSERT_EQ(first.size(), 2U);
  row.first = first.at("c0ffee.rate");
  EXPECT_EQ(row.first->date, "2026-11-23");
  EXPECT_TRUE(has_moved(row));
  EXPECT_EQ(at_first_run(row).simulated, 0.4);
  EXPECT_EQ(at_first_run(row).change->sign, ChangeSign::loss);
  row.result.simulated = 0.4;
  EXPECT_FALSE(has_moved(row));
  EXPECT_THAT(first.at("c0ffee.order").simulated, ElementsAre(3, 2, 1));
}

TEST_F(FirstRuns, ARowIsNotAFirstRunOnceAMissOfItsExperimentIsExplained) {
  const auto file = folder_ / "lru.json";
  ValidatedRow missed{"validation/lru", "mine", "layout", change("c0ffee.rate", 0.43, 0.4, ChangeSign::loss)};
  missed.result.row.why_off = "no prefetcher";
  record_first_runs(file, {missed, {"validation/lru", "mine", "layout", falling("c0ffee.order", true)}}, "2026-11-23");
  const FirstRun order = read_first_runs(file).at("c0ffee.order");
  EXPECT_FALSE(order.is_first);
  EXPECT_THAT(order.because, ::testing::HasSubstr("c0ffee.rate"));
}

TEST_F(FirstRuns, ADamagedRecordIsNamed) {
  const auto file = folder_ / "lru.json";
  for (const char* text : {"{", "[]", "{\"schema\": \"linebounce.first_runs/1\"}", "{\"schema\": \"other\", \"runs\": []}"}) {
    write_file(file, text);
    EXPECT_THROW(
        {
          try {
            read_first_runs(file);
          } catch (const InputError& error) {
            EXPECT_THAT(error.what(), ::testing::HasSubstr("lru.json")) << text;
            throw;
          }
        },
        InputError);
  }
}

}  // namespace
}  // namespace linebounce::sim
