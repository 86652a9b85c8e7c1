#include "sim/plan/foretold_time.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <ctime>

namespace linebounce::sim {
namespace {

// A point for each of these numbers of CPUs.
Plan plan_over_cpus(const std::vector<int>& cpus, double measure_us) {
  Plan plan;
  for (const int count : cpus)
    plan.points.push_back({static_cast<int>(plan.points.size()), {{"machine.cpus", std::int64_t{count}}}});
  plan.make_point = [places = plan.points, cpus, measure_us](int number) {
    Point point{places[static_cast<std::size_t>(number)], {}, {}};
    point.input.machine.cpus = cpus[static_cast<std::size_t>(number)];
    point.input.run.measure_us = measure_us;
    return point;
  };
  return plan;
}

// Would take so many seconds of CPU time for each CPU.
Simulation seconds_for_each_cpu(double seconds) {
  return [seconds](const SimulationInput& input, const std::function<void(double)>& progress) {
    progress(0);
    const std::clock_t begin = std::clock();
    for (double share = 0; share < 1;) {
      const auto used = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
      share = used / (seconds * input.machine.cpus);
      progress(std::min(share, 1.0));
    }
    return PointData();
  };
}

std::vector<ComingJob> jobs_of(const Plan& plan, int seeds) {
  std::vector<ComingJob> jobs;
  for (const PointPlace& point : plan.points) jobs.insert(jobs.end(), static_cast<std::size_t>(seeds), {&plan, point.number});
  return jobs;
}

class ForetoldTime : public testing::Test {
 protected:
  std::optional<double> foretold(const Plan& plan, double seconds, int seeds = 1) {
    return foretold_seconds(jobs_of(plan, seeds), seconds_for_each_cpu(seconds), 2, guard);
  }

  std::vector<int> cpus = std::vector<int>(40, 1);
  InterruptGuard guard;
};

// 20 points of 1 CPU and 20 of 4 take 100 s of two processes.
TEST_F(ForetoldTime, IsThatOfAllPointsTogether) {
  for (std::size_t point = 1; point < cpus.size(); point += 2) cpus[point] = 4;
  const auto begin = std::chrono::steady_clock::now();
  const auto seconds = foretold(plan_over_cpus(cpus, 1), 2);
  ASSERT_TRUE(seconds);
  EXPECT_THAT(*seconds, testing::AllOf(testing::Ge(60), testing::Lt(3000)));  // as busy as the computer is
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(50));
}

TEST_F(ForetoldTime, EachSeedIsARunOfItsOwn) {
  const auto seconds = foretold(plan_over_cpus({1, 1, 1}, 1), 2, 20);
  ASSERT_TRUE(seconds);
  EXPECT_THAT(*seconds, testing::AllOf(testing::Ge(40), testing::Lt(2000)));
}

TEST_F(ForetoldTime, IsNotToldOfShortRuns) {
  EXPECT_FALSE(foretold(plan_over_cpus(cpus, 1), 0.01));
}

TEST_F(ForetoldTime, IsNotToldWhereNoPointSaysHowFarItIs) {
  EXPECT_FALSE(foretold(plan_over_cpus(cpus, 0), 2));
}

}  // namespace
}  // namespace linebounce::sim
