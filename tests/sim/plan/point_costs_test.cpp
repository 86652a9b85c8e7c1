#include "sim/plan/point_costs.hpp"

#include <gtest/gtest.h>

namespace linebounce::sim {
namespace {

// Two locks on 1, 2 and 4 CPUs each; the points are ordered by lock.
std::vector<PointPlace> two_locks_on_three() {
  std::vector<PointPlace> points;
  for (const char* lock : {"ttas", "mcs"}) {
    for (const std::int64_t cpus : {1, 2, 4})
      points.push_back({static_cast<int>(points.size()), {{"workload.lock", std::string(lock)}, {"machine.cpus", cpus}}});
  }
  return points;
}

TEST(PointCosts, PointsCostAlikeWhileNothingIsKnown) {
  PointCosts costs(two_locks_on_three());
  EXPECT_EQ(costs.expected(0), costs.expected(5));
}

TEST(PointCosts, APointToComeCostsWhatItsValuesHaveCostElsewhere) {
  PointCosts costs(two_locks_on_three());
  for (int point = 0; point < 3; ++point) costs.add(point, point == 0 ? 1 : point == 1 ? 3 : 9);
  costs.add(3, 2);  // mcs takes twice as long on one CPU
  EXPECT_NEAR(costs.expected(4), 6, 0.1);
  EXPECT_NEAR(costs.expected(5), 18, 0.3);
}

TEST(PointCosts, ARunTooShortToMeasureIsNotAReasonToDivideByZero) {
  PointCosts costs(two_locks_on_three());
  costs.add(0, 0);
  EXPECT_GT(costs.expected(1), 0);
}

}  // namespace
}  // namespace linebounce::sim
