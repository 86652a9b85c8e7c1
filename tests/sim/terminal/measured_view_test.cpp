#include "sim/terminal/measured_view.hpp"

#include <gmock/gmock.h>

#include <sstream>

#include "sim/lines/table_metrics.hpp"
#include "tests/sim/terminal/plain.hpp"

namespace linebounce::sim {
namespace {

using testing::HasSubstr;
using testing::Not;

// A plan of one point, with a table of four rows: 300 samples of the lock (scored), 100 of idle (scored), 12 of a neighbour
// on the line, and 3 without a name.
class MeasuredView : public ::testing::Test {
 protected:
  MeasuredView() {
    MeasuredTable table;
    table.id = "fig3";
    table.structure = "rq";
    table.field = "lock";
    table.min_samples = 50;
    table.tolerance_abs = 10;
    table.rows = {{"schedule.lock", "rq", "schedule", "lock", "atomic", 80, 300, 1.2, PaperKind::calibrated},
                  {"idle_cpu.idle", "rq", "idle_cpu", "idle", "load", 88, 100, 66, PaperKind::in_sight},
                  {"f.map", "bitmap", "f", "map", "load", 96, 12, 0},
                  {"g.map", "rq", "g", "map", "load", 96, 3, 0}};
    plan_.experiment.measured = {table};
    plan_.points.resize(1);
    PointData point;
    add_table_metrics({{&plan_.experiment.measured[0], {1}}},
                      {{1, {"rq", "rq[0]", 0, 80, "lock", "schedule", "atomic", 0, "local_c2c", 600, 5, 100}},
                       {1, {"rq", "rq[0]", 0, 80, "lock", "h", "atomic", 0, "local_c2c", 230, 5, 100}}},
                      point);
    ReportedPoint& reported = results_.points.emplace_back();
    for (const auto& [name, metric] : point.metrics) reported.metrics[name] = {metric.value, metric.unit, {}};
    score("fig3.schedule.lock", true);
    score("fig3.idle_cpu.idle", false);
  }
  void score(const std::string& id, bool ok) {
    PaperResult& result = results_.paper.emplace_back();
    result.row.id = id;
    result.ok = ok;
  }
  std::string text(const std::string& wanted = "fig3") const {
    return measured_tables(
        plan_, results_, [&wanted](const std::string& id) { return id == wanted; }, kPlain);
  }
  Plan plan_;
  Results results_;
};

TEST_F(MeasuredView, SamplesAreScaledToTheMeasuredTotal) {
  // 415 samples were measured and 830 simulated, so 600 simulated samples are shown as 300.
  EXPECT_THAT(text(), HasSubstr("fig3  rq, line of lock: 415 samples, simulated 830; rank correlation 0.87\n"));
  EXPECT_THAT(text(), HasSubstr("lock                   atomic      300    300      1.2    5.0  ✓c\n"));
  EXPECT_THAT(text(), HasSubstr("and 115 simulated samples of rows that were not measured"));
}

TEST_F(MeasuredView, ARowThatWasNeverSampledHasNoShareAndIsAMiss) {
  EXPECT_THAT(text(), HasSubstr("idle                   load        100      0     66.0      -  ✗s\n"));
}

TEST_F(MeasuredView, ANeighboursFieldHasItsStructureAndSmallRowsAreLeftOut) {
  EXPECT_THAT(text(), HasSubstr("bitmap.map"));
  EXPECT_THAT(text(), Not(HasSubstr(" g  ")));
}

TEST_F(MeasuredView, ATableWithoutMetricsIsNotMeasurable) {
  results_.points[0].metrics.clear();
  EXPECT_THAT(text(), HasSubstr("  fig3  not measurable: no rq.lock in this run\n"));
  plan_.experiment.measured[0].home = 1;
  EXPECT_THAT(text(), HasSubstr("no rq.lock whose home is node 1 in this run\n"));
}

TEST_F(MeasuredView, OnlyWantedTablesOfFinishedPointsAreShown) {
  EXPECT_EQ(text("fig4"), "");
  results_.points[0].finished = false;
  EXPECT_EQ(text(), "");
}

TEST_F(MeasuredView, FitsTheTerminal) {
  std::istringstream in(text());
  for (std::string line; std::getline(in, line);) EXPECT_LE(width_of(line), 100U) << line;
}

}  // namespace
}  // namespace linebounce::sim
