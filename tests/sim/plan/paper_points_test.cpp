#include <gmock/gmock.h>

#include "sim/plan/plan.hpp"

namespace linebounce::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

PaperRow flat_over_cpus() {
  PaperRow row;
  row.id = "shape";
  row.shape = Shape::flat;
  row.over = "machine.cpus";
  return row;
}

std::vector<PointPlace> points_at_cpus(std::initializer_list<std::int64_t> cpus) {
  std::vector<PointPlace> points;
  for (const std::int64_t count : cpus) {
    PointPlace point;
    point.number = static_cast<int>(points.size());
    point.at = {{"machine.cpus", count}};
    points.push_back(std::move(point));
  }
  return points;
}

TEST(PaperPoints, AtSelectsTheOnePointThatLiesThere) {
  PaperRow row;
  row.id = "ols2004.table1.l2_hit";
  row.at = {{"machine.cpus", std::int64_t{4}}};
  EXPECT_THAT(select_points(row, points_at_cpus({1, 4, 8})).at, ElementsAre(1));
}

TEST(PaperPoints, AnAtThatSelectsNoneOrSeveralIsAnErrorWithTheRowsName) {
  PaperRow row;
  row.id = "ols2004.table1.l2_hit";
  EXPECT_THROW(select_points(row, points_at_cpus({1, 4})), ConfigError);
  row.at = {{"machine.cpus", std::int64_t{3}}};
  try {
    select_points(row, points_at_cpus({1, 4}));
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("ols2004.table1.l2_hit"));
    EXPECT_THAT(error.what(), HasSubstr("machine.cpus = 3"));
  }
}

TEST(PaperPoints, AShapeTakesEveryPointAlongItsKey) {
  EXPECT_THAT(select_points(flat_over_cpus(), points_at_cpus({1, 4, 8})).at, ElementsAre(0, 1, 2));
  EXPECT_THROW(select_points(flat_over_cpus(), points_at_cpus({1})), ConfigError);
}

TEST(PaperPoints, AShapeThatLeavesAnotherKeyOpenIsAnError) {
  EXPECT_THROW(select_points(flat_over_cpus(), points_at_cpus({1, 4, 4})), ConfigError);
}

}  // namespace
}  // namespace linebounce::sim
