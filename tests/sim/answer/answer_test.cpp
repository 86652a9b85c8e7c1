#include "sim/answer/answer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <optional>

#include "sim/answer/what_varies.hpp"

namespace linebounce::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

const std::vector<HeadlineMetric> kRate = {{"throughput.operations_per_s", "operations", "1/s", Better::higher}};
const std::vector<HeadlineMetric> kCost = {{"cost.munmap", "munmap", "ns", Better::lower}};

using At = std::vector<std::pair<std::string, ConfigValue>>;

ReportedPoint point_of(At at, double value, std::optional<double> interval = 1000,
                       const HeadlineMetric& metric = kRate.front()) {
  ReportedPoint point{std::move(at), {}};
  point.metrics[metric.name] = {value, metric.unit, interval};
  return point;
}

ReportedPoint lock_point(const std::string& lock, std::int64_t cpus, double per_s, std::optional<double> interval = 1000) {
  return point_of({{"workload.lock", lock}, {"machine.cpus", cpus}}, per_s, interval);
}

Answer answer_to(const std::vector<ReportedPoint>& points, const Question& question = {}, const SeedsOfPoint& seeds = {}) {
  return answer_of({question, kRate, points, seeds, 4});
}

TEST(Answer, NamesTheFastestLockWithTheMostCpus) {
  const Answer answer =
      answer_to({lock_point("ticket", 1, 900000), lock_point("ticket", 4, 200000), lock_point("mcs", 1, 800000),
                 lock_point("mcs", 4, 250000), lock_point("tas", 4, 100000), lock_point("none", 4, 990000)});
  EXPECT_EQ(answer.text,
            "At 4 CPUs mcs is fastest: 250 ±1 k operations/s, 25 % more than ticket, the runner-up. ticket leads at 1 CPU.");
  EXPECT_EQ(answer.point, 3);
  EXPECT_EQ(answer.runner_up, 1);
  EXPECT_EQ(answer.compared, "workload.lock");
  EXPECT_EQ(answer.over, "machine.cpus");
}

TEST(Answer, SaysWhichAlternativesCannotBeToldApart) {
  EXPECT_EQ(answer_to({lock_point("ticket", 4, 249000), lock_point("mcs", 4, 250000), lock_point("tas", 4, 100000),
                       lock_point("ttas", 4, 230000, 40000)})
                .text,
            "At 4 CPUs mcs is fastest (250 ±1 k operations/s), but ticket and ttas can't be told apart from it: their "
            "differences are "
            "within the 95 % intervals.");
}

// The points' own intervals are wide, because results differ much between seeds. But with each seed, mcs does 10 k more than
// ticket.
TEST(Answer, ComparesRunsOfTheSameSeeds) {
  const SeedsOfPoint seeds = [](int point, const std::string&) {
    const double more = point == 1 ? 10000 : 0;
    return std::map<std::uint64_t, double>{{1, 100000 + more}, {2, 200000 + more}, {3, 300000 + more}};
  };
  const std::vector<ReportedPoint> points = {lock_point("ticket", 4, 200000, 248000), lock_point("mcs", 4, 210000, 248000)};
  EXPECT_THAT(answer_to(points).text, HasSubstr("can't be told apart"));
  EXPECT_THAT(answer_to(points, {}, seeds).text, HasSubstr("5 % more than ticket, the runner-up"));
}

TEST(Answer, OfOneSeedHasNoIntervalAndSaysSo) {
  EXPECT_EQ(answer_to({lock_point("ticket", 4, 200000, {}), lock_point("mcs", 4, 250000, {})}).text,
            "At 4 CPUs mcs is fastest: 250 k operations/s, 25 % more than ticket, the runner-up (one seed, no interval).");
}

TEST(Answer, NamesTheBestThatStarvesNobodyWhereTheFirstStarvesSome) {
  std::vector<ReportedPoint> points = {lock_point("ticket", 4, 200000), lock_point("tas", 4, 250000)};
  points[1].metrics["fairness.starved_cpus"] = {std::int64_t{3}, "", {}};
  const Answer answer = answer_to(points);
  EXPECT_THAT(answer.text, HasSubstr("some of its CPUs get less than a tenth of an equal share. Of those that starve no CPU "
                                     "ticket is fastest: 200 ±1 k operations/s."));
  EXPECT_THAT(answer.doubts, ElementsAre(StartsWith("tas: 3 CPUs got less than a tenth")));
}

TEST(Answer, IsOfWhatHasFinished) {
  std::vector<ReportedPoint> points = {lock_point("ticket", 4, 200000), lock_point("mcs", 4, 250000), lock_point("tas", 4, 0)};
  points[2].metrics.clear();
  EXPECT_THAT(answer_to(points).text, testing::EndsWith("(2 of 3 points have results.)"));
  for (ReportedPoint& point : points) point.metrics.clear();
  EXPECT_EQ(answer_to(points).text, "");
}

// The answer compares points with equal numbers of CPUs and equal work. Among all points, ticket with one CPU would be the
// best.
TEST(Answer, ComparesAtEachPlaceOfTheOtherPaths) {
  const auto at = [](const std::string& lock, std::int64_t readers, double per_s) {
    return point_of({{"workload.lock", lock}, {"workload.readers_pct", readers}}, per_s);
  };
  const Answer answer =
      answer_to({at("mutex", 0, 300000), at("rwsem", 0, 200000), at("mutex", 90, 310000), at("rwsem", 90, 400000)});
  EXPECT_EQ(answer.text,
            "At readers_pct = 90 rwsem is fastest: 400 ±1 k operations/s, 29 % more than mutex, the runner-up. "
            "mutex leads at readers_pct = 0.");
  const auto words = [](const std::string& lock, const std::string& counts, double per_s) {
    return point_of({{"workload.lock", lock}, {"workload.counts", counts}}, per_s);
  };
  EXPECT_EQ(answer_to({words("a", "events", 3e5), words("b", "events", 2e5), words("a", "references", 3e5),
                       words("b", "references", 6e5)})
                .text,
            "a is fastest with events (by 50 %) and b with references (by a factor of 2).");
}

TEST(Answer, TakesMachinesForPlaces) {
  const auto at = [](const std::string& machine, const std::string& counter, double per_s) {
    return point_of({{"machine", machine}, {"workload.counter", counter}}, per_s);
  };
  EXPECT_EQ(
      answer_to({at("xeon", "atomic", 3e5), at("xeon", "striped", 2e5), at("zen", "atomic", 3e5), at("zen", "striped", 6e5)})
          .text,
      "atomic is fastest with xeon (by 50 %) and striped with zen (by a factor of 2).");
  // Alone, they are what was varied.
  const Answer alone =
      answer_to({point_of({{"machine", std::string("xeon")}}, 3e5), point_of({{"machine", std::string("zen")}}, 2e5)});
  EXPECT_EQ(alone.compared, "machine");
  EXPECT_THAT(alone.text, StartsWith("xeon is fastest"));
}

// A trace's counts as recorded are the alternative "". It leads in every order, so no place before it had another leader.
TEST(Answer, NamesAnAlternativeThatIsAnEmptyWord) {
  const auto at = [](const std::string& count, std::int64_t order, double per_s) {
    return point_of({{"workload.count", count}, {"workload.order", order}}, per_s);
  };
  const Answer answer = answer_to(
      {at("", 1, 2e5), at("batched", 1, 1e5), at("", 2, 2e5), at("batched", 2, 1e5), at("", 3, 1e5), at("batched", 3, 3e5)});
  EXPECT_EQ(
      answer.text,
      "At order = 3 batched is fastest: 300 ±1 k operations/s, 3 times as much as count = \"\", the runner-up. count = \"\" "
      "leads at order = 1 to 2.");
  EXPECT_THAT(answer.featured, ElementsAre(ConfigValue(std::string("batched")), ConfigValue(std::string())));
}

TEST(Answer, TellsAnEmptyWordThatWinsFromATie) {
  const auto at = [](const std::string& count, const std::string& machine, double per_s) {
    return point_of({{"workload.count", count}, {"workload.place", machine}}, per_s);
  };
  EXPECT_EQ(answer_to({at("", "a", 2e5), at("batched", "a", 1e5), at("", "b", 2e5), at("batched", "b", 2e5)},
                      {.text = "", .metric = "", .compare = "workload.count"})
                .text,
            "count = \"\" is fastest with a (by a factor of 2) and there is no clear winner with b.");
}

TEST(Answer, TellsFilesOfOneNameApart) {
  const auto at = [](const std::string& lock, double per_s) { return point_of({{"workload.lock", lock}}, per_s); };
  EXPECT_THAT(answer_to({at("a/mine.lua", 3e5), at("b/mine.lua", 2e5), at("mcs", 1e5)}).text,
              StartsWith("At 4 CPUs a/mine.lua is fastest: 300 ±1 k operations/s, 50 % more than b/mine.lua, the runner-up"));
}

// Both remove misses that another cache serves cheaply, so the mean of the others is higher.
TEST(Answer, RanksByOperationsAndNotByTheMeanOverMisses) {
  const std::vector<HeadlineMetric> headlines = {{"latency.user_offchip.mean_ns", "miss", "ns", Better::lower}, kRate.front()};
  std::vector<ReportedPoint> points = {point_of({{"workload.count", std::string("shared")}}, 1e5),
                                       point_of({{"workload.count", std::string("per_thread")}}, 9e5)};
  points[0].metrics["latency.user_offchip.mean_ns"] = {60.0, "ns", {}};
  points[1].metrics["latency.user_offchip.mean_ns"] = {300.0, "ns", {}};
  EXPECT_THAT(answer_of({{}, headlines, points, {}, 4}).text, StartsWith("At 4 CPUs per_thread is fastest"));
  const std::vector<HeadlineMetric> misses = {headlines.front()};
  EXPECT_EQ(answer_of({{}, misses, points, {}, 4}).text, "per_thread: miss 300 ns.");
}

TEST(Answer, LeavesOutFiguresThatAreNoNumbers) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(answer_to({lock_point("ticket", 4, none), lock_point("mcs", 4, 250000), lock_point("tas", 4, 100000)}).text,
              StartsWith("At 4 CPUs mcs is fastest"));
  EXPECT_EQ(answer_to({point_of({}, none)}).text, "");
}

TEST(Answer, FollowsOneRowOfNumbers) {
  const auto at = [](std::int64_t cpus, double per_s) { return point_of({{"machine.cpus", cpus}}, per_s); };
  EXPECT_EQ(answer_to({at(1, 100000), at(2, 190000), at(4, 150000)}).text,
            "100 ±1 k operations/s at 1 CPU, 150 ±1 k operations/s at 4 CPUs (+50 %); the highest is 190 ±1 k operations/s, at "
            "2 CPUs.");
}

TEST(Answer, TakesLessForBetterWhereLessIsBetter) {
  const auto at = [](bool shoot_down, double ns) {
    return point_of({{"workload.shoot_down", shoot_down}}, ns, {}, kCost.front());
  };
  const std::vector<ReportedPoint> points = {at(true, 11200), at(false, 746)};
  EXPECT_EQ(
      answer_of({{}, kCost, points, {}, 4}).text,
      "At 4 CPUs shoot_down = false has the lowest munmap: 746 ns, 15 times less than shoot_down = true, the runner-up (one "
      "seed, no "
      "interval).");
}

TEST(Answer, TellsTheHeadlinesOfOnePoint) {
  const Answer answer = answer_to({point_of({}, 2726670, {})});
  EXPECT_EQ(answer.text, "2.73 M operations/s.");
  EXPECT_EQ(answer.point, 0);
}

TEST(Answer, OfAnotherQuestionComparesWhatIsAsked) {
  const auto at = [](const std::string& lock, std::int64_t line, double per_s) {
    return point_of({{"workload.lock", lock}, {"machine.line", line}}, per_s);
  };
  const std::vector<ReportedPoint> points = {at("mcs", 64, 2e5), at("mcs", 128, 3e5)};
  EXPECT_THAT(answer_to(points, {"", "", "machine.line"}).text,
              StartsWith("At 4 CPUs line = 128 is fastest: 300 ±1 k operations/s"));
}

// An operation takes 1 / rate: 5 us with ticket, 4 us with mcs. With both, the lock is held for 1 us of that. The rest is the
// hand-off.
TEST(Answer, SaysThatTheHandOffMakesTheDifference) {
  std::vector<ReportedPoint> points = {lock_point("ticket", 4, 200000), lock_point("mcs", 4, 250000)};
  for (ReportedPoint& point : points) {
    const bool ticket = point.at[0].second == ConfigValue(std::string("ticket"));
    point.metrics["locks.l.cpu_pct"] = {90.0, "%", {}};
    point.metrics["locks.l.util_pct"] = {ticket ? 20.0 : 25.0, "%", {}};
    point.metrics["locks.l.total"] = point.metrics["locks.l.spin"] = {std::int64_t{100}, "", {}};
  }
  EXPECT_EQ(answer_to(points).why, "Under mcs l changes hands in 3.00 µs, under ticket in 4.00 µs.");
}

TEST(Answer, SaysWhichMissesMakeTheDifferenceAndWhatTheyLeaveUnexplained) {
  std::vector<ReportedPoint> points = {point_of({{"workload.counter", std::string("atomic")}}, 1e6),
                                       point_of({{"workload.counter", std::string("per_cpu")}}, 4e6)};
  for (ReportedPoint& point : points) {
    const bool atomic = point.at[0].second == ConfigValue(std::string("atomic"));
    point.metrics["throughput.operations"] = {std::int64_t{1000}, "", {}};
    point.metrics["latency.remote_c2c.count"] = {std::int64_t{atomic ? 2000 : 0}, "", {}};
    point.metrics["latency.remote_c2c.mean_ns"] = {700.0, "ns", {}};
  }
  EXPECT_EQ(
      answer_to(points).why,
      "Per operation atomic spends 1.40 µs on remote HITM (2 misses of 700 ns), per_cpu 0 ns. That is 1.40 µs of 3.00 µs of "
      "CPU time; the rest are other misses, hits, computing and waiting.");
}

TEST(Doubts, OfTheSameKindAreOneSentence) {
  std::vector<ReportedPoint> points;
  for (const std::int64_t cpus : {4, 16, 32}) {
    points.push_back(lock_point("ttas", cpus, 1e5));
    points.push_back(lock_point("mcs", cpus, 2e5));
    points[points.size() - 2].metrics["fairness.starved_cpus"] = {cpus - 1, "", {}};
  }
  EXPECT_THAT(answer_to(points).doubts,
              ElementsAre(StartsWith("ttas at 4 CPUs (3 CPUs), ttas at 16 CPUs (15 CPUs) and ttas at 32 "
                                     "CPUs (31 CPUs): some CPUs got less than a tenth")));
  points.push_back(lock_point("tas", 4, 1e5));
  points.back().metrics["fairness.starved_cpus"] = {std::int64_t{1}, "", {}};
  EXPECT_THAT(answer_to(points).doubts,
              ElementsAre(StartsWith("ttas at 4, 16 and 32 CPUs; tas at 4 CPUs: some CPUs got less")));
  EXPECT_THAT(answer_to({lock_point("mcs", 4, 1e5)}).doubts, IsEmpty());
}

TEST(WhatVaries, TakesPathsThatChangeTogetherForOne) {
  const auto at = [](const std::string& protocol, std::int64_t line) {
    return point_of({{"machine.line", line}, {"machine.bus.protocol", protocol}}, 1e5);
  };
  const Roles roles = roles_of({at("mesi", 64), at("moesi", 128)});
  ASSERT_TRUE(roles.compared);
  EXPECT_EQ(roles.compared->path, "machine.bus.protocol");
  EXPECT_FALSE(roles.over);
  EXPECT_THAT(roles.cells, IsEmpty());
}

TEST(WhatVaries, CallsAFileByItsNameAlone) {
  EXPECT_EQ(value_name(std::string("/home/me/locks/my_lock.lua")), "my_lock");
  EXPECT_EQ(value_name(std::string("mcs")), "mcs");
  EXPECT_EQ(value_name(std::int64_t{8}), "8");
  EXPECT_EQ(value_name(std::string("/")), "/");
  EXPECT_EQ(value_name(std::string()), "\"\"");
}

}  // namespace
}  // namespace linebounce::sim
