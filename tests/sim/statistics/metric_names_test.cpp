#include "sim/statistics/metric_names.hpp"

#include <gtest/gtest.h>

namespace linebounce::sim {
namespace {

TEST(MetricNames, LeaveCleanNamesAsTheyAre) {
  EXPECT_EQ(metric_names({"lru_lock", "rq[3]"}),
            (std::map<std::string, std::string>{{"lru_lock", "lru_lock"}, {"rq[3]", "rq[3]"}}));
}

TEST(MetricNames, CleanWhatOthersWouldStumbleOver) {
  EXPECT_EQ(metric_names({"A::b(c) d.e+5"}).at("A::b(c) d.e+5"), "a__b_c__d_e_5");
  EXPECT_EQ(metric_names({""}).at(""), "_");
}

TEST(MetricNames, AreNumberedWhereTheyWouldBeAlike) {
  const auto parts = metric_names({"LOG", "Log", "log", "log-2"});
  EXPECT_EQ(parts.at("log"), "log");
  EXPECT_EQ(parts.at("log-2"), "log-2");
  EXPECT_EQ(parts.at("LOG"), "log-3");
  EXPECT_EQ(parts.at("Log"), "log-4");
}

}  // namespace
}  // namespace linebounce::sim
