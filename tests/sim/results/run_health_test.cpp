// A run's warnings about itself: each warning, and none for a healthy run.
#include "sim/results/run_health.hpp"

#include <gmock/gmock.h>

namespace linebounce::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

ReportedPoint point_with(const std::map<std::string, Number>& metrics) {
  ReportedPoint point;
  point.metrics["throughput.operations"] = {std::int64_t{5000}, "", std::nullopt};
  for (const auto& [name, value] : metrics) point.metrics[name] = {value, "", std::nullopt};
  return point;
}

TEST(RunHealth, ASoundRunHasNoWarnings) {
  EXPECT_THAT(health_warnings(point_with({{"fairness.starved_cpus", std::int64_t{0}},
                                          {"throughput.second_half_pct", 51.0},
                                          {"locks.section_lock.waiting", std::int64_t{8}},
                                          {"locks.section_lock.spin", std::int64_t{4000}}})),
              IsEmpty());
}

TEST(RunHealth, CountsStarvedCpus) {
  EXPECT_THAT(health_warnings(point_with({{"fairness.starved_cpus", std::int64_t{31}}})),
              ElementsAre(HasSubstr("31 CPUs got less than a tenth of an equal share")));
}

TEST(RunHealth, ACpuStarvedInOneOfThreeRunsIsNotCounted) {
  EXPECT_THAT(health_warnings(point_with({{"fairness.starved_cpus", 1 / 3.0}})),
              ElementsAre(HasSubstr("on average 0.33 CPUs got less than a tenth of an equal share")));
}

TEST(RunHealth, WaitsWithoutAnEndAreNotAQueue) {
  EXPECT_THAT(health_warnings(point_with(
                  {{"locks.section_lock.waiting", std::int64_t{31}}, {"locks.section_lock.spin", std::int64_t{110}}})),
              ElementsAre(HasSubstr("31 of 110 waits for section_lock had not ended when the run did; ")));
}

// As on Itanium 2, where one CPU takes a tas lock again and again, and 15 of 15 waits never end.
TEST(RunHealth, WaitsWithoutAnEndAreFoundBesideAnyNumberOfAcquisitions) {
  EXPECT_THAT(health_warnings(point_with({{"locks.section_lock.waiting", std::int64_t{15}},
                                          {"locks.section_lock.spin", std::int64_t{15}},
                                          {"locks.section_lock.total", std::int64_t{4000}}})),
              ElementsAre(HasSubstr("15 of 15 waits for section_lock had not ended")));
}

TEST(RunHealth, TwoModesAreBothNamed) {
  EXPECT_THAT(health_warnings(point_with({{"throughput.lower_mode", 390000.0},
                                          {"throughput.upper_mode", 910000.0},
                                          {"throughput.lower_mode_seeds", std::int64_t{2}}})),
              ElementsAre(HasSubstr("2 of them near 390000 operations per s, the others near 910000")));
}

TEST(RunHealth, ALoadThatHasNotSettledIsNamed) {
  EXPECT_THAT(health_warnings(point_with({{"throughput.second_half_pct", 70.0}})),
              ElementsAre(HasSubstr("second half of the measured time has 70 % of the misses")));
}

TEST(RunHealth, FewOperationsAreFew) {
  EXPECT_THAT(health_warnings(point_with({{"throughput.operations", std::int64_t{12}}})),
              ElementsAre(HasSubstr("12 operations were measured, fewer than 100")));
}

TEST(RunHealth, APointThatDidNotFinishHasNone) {
  ReportedPoint point = point_with({{"fairness.starved_cpus", std::int64_t{31}}});
  point.finished = false;
  EXPECT_THAT(health_warnings(point), IsEmpty());
}

}  // namespace
}  // namespace linebounce::sim
