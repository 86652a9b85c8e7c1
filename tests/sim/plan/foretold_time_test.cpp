#include "sim/plan/foretold_time.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <thread>

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

// Takes so many seconds for each CPU, after a set-up of 10 ms.
Simulation seconds_for_each_cpu(double seconds) {
  return [seconds](const SimulationInput& input, const std::function<void(double)>& progress) {
    using std::chrono::steady_clock, std::chrono::milliseconds, std::chrono::duration;
    std::this_thread::sleep_for(milliseconds(10));
    progress(0);
    const auto begin = steady_clock::now();
    for (double share = 0; share < 1;) {
      std::this_thread::sleep_for(milliseconds(5));
      share = duration<double>(steady_clock::now() - begin).count() / (seconds * input.machine.cpus);
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
  EXPECT_THAT(*seconds, testing::AllOf(testing::Gt(60), testing::Lt(170)));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

TEST_F(ForetoldTime, EachSeedIsARunOfItsOwn) {
  const auto seconds = foretold(plan_over_cpus({1, 1, 1}, 1), 2, 20);
  ASSERT_TRUE(seconds);
  EXPECT_THAT(*seconds, testing::AllOf(testing::Gt(40), testing::Lt(90)));
}

TEST_F(ForetoldTime, IsNotToldOfShortRuns) {
  EXPECT_FALSE(foretold(plan_over_cpus(cpus, 1), 0.05));
}

TEST_F(ForetoldTime, IsNotToldWhereNoPointSaysHowFarItIs) {
  EXPECT_FALSE(foretold(plan_over_cpus(cpus, 0), 2));
}

}  // namespace
}  // namespace linebounce::sim
