#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "commands/compare_locks/lock_comparison.hpp"

namespace linebounce::sim {
namespace {

using testing::ElementsAre;

ReportedPoint ended_with(double per_s) {
  ReportedPoint point;
  point.finished = per_s > 0;
  if (point.finished) point.metrics["throughput.operations_per_s"].value = per_s;
  return point;
}

std::vector<std::string> algorithms(const std::vector<LockReplacement>& trials) {
  std::vector<std::string> names;
  for (const LockReplacement& trial : trials) names.push_back(trial.lock + ":" + trial.algorithm);
  return names;
}

class FirstLookTest : public testing::Test {
 protected:
  std::vector<std::string> left(const std::vector<double>& throughputs, const std::vector<workloads::LockEntry>& own = {}) {
    std::vector<ReportedPoint> points;
    for (const double per_s : throughputs) points.push_back(ended_with(per_s));
    return algorithms(left_by_first_look(trials, TrialsInOrders(points, 1), own, of_user_program, look));
  }

  std::vector<LockReplacement> trials = {{}, {"a", "ttas"}, {"a", "mcs"}, {"a", "clh"}, {"b", "ticket"}};
  FirstLook look;
  bool of_user_program = false;
};

TEST_F(FirstLookTest, TheBestTwoOfEachLockGoOn) {
  EXPECT_THAT(left({100, 90, 120, 110, 50}), ElementsAre(":", "a:mcs", "a:clh", "b:ticket"));
  ASSERT_EQ(look.behind.size(), 1U);
  EXPECT_EQ(look.behind[0].algorithm, "ttas");
  EXPECT_NEAR(look.behind[0].change_pct, -10, 1e-9);
}

TEST_F(FirstLookTest, TheBestFairLockGoesOnBehindTwoUnfairOnes) {
  trials = {{}, {"a", "ttas"}, {"a", "hbo"}, {"a", "mcs"}, {"a", "ticket"}};
  EXPECT_THAT(left({100, 120, 110, 90, 80}), ElementsAre(":", "a:ttas", "a:hbo", "a:mcs"));
}

TEST_F(FirstLookTest, TheBestTwoThatTheProgramCanHaveGoOnBehindOthers) {
  of_user_program = true;
  trials = {{}, {"a", "hbo"}, {"a", "bravo"}, {"a", "mcs"}, {"a", "clh"}, {"a", "ticket"}};
  EXPECT_THAT(left({100, 150, 140, 130, 120, 110}), ElementsAre(":", "a:hbo", "a:bravo", "a:mcs", "a:clh"));
}

TEST_F(FirstLookTest, TheUsersOwnLockGoesOnWhereverItStands) {
  workloads::LockEntry own;
  own.name = "ttas";
  EXPECT_THAT(left({100, 90, 120, 110, 50}, {own}), ElementsAre(":", "a:ttas", "a:mcs", "a:clh", "b:ticket"));
}

TEST_F(FirstLookTest, ARunThatCameToNoEndGoesOnAndIsNotCalledSlow) {
  EXPECT_THAT(left({100, 0, 120, 110, 50}), ElementsAre(":", "a:ttas", "a:mcs", "a:clh", "b:ticket"));
  EXPECT_TRUE(look.behind.empty());
}

TEST_F(FirstLookTest, StopsIfTheReplayWithTheRecordedLocksDoesNotEnd) {
  EXPECT_TRUE(left({0, 90, 120, 110, 50}).empty());
}

}  // namespace
}  // namespace linebounce::sim
