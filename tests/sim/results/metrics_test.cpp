#include "sim/results/metrics.hpp"

#include <gmock/gmock.h>

#include <map>
#include <set>
#include <string>

#include "sim/point/point_metrics.hpp"

namespace linebounce::sim {
namespace {

using namespace workloads;

std::string pattern_of(std::string_view name) {
  const MetricDeclaration* metric = find_metric(name);
  return metric == nullptr ? "nothing" : metric->pattern;
}

// A name that matches a pattern, such as "locks.x.con_pct" or "latency.l1.mean_ns".
std::string example_of(std::string_view pattern) {
  std::string name;
  while (!pattern.empty()) {
    const std::size_t end = pattern.find('>');
    if (pattern.front() != '<') {
      name += pattern.front();
      pattern.remove_prefix(1);
    } else {
      name += end == 2 ? "1" : pattern.substr(0, end).ends_with("...") ? "x.y" : "x";
      pattern.remove_prefix(end + 1);
    }
  }
  return name;
}

TEST(DeclaredMetrics, EachIsFoundByItsNamesAndByItsPattern) {
  for (const MetricDeclaration& metric : all_metrics()) {
    EXPECT_EQ(pattern_of(example_of(metric.pattern)), metric.pattern);
    EXPECT_EQ(pattern_of(metric.pattern), metric.pattern);
  }
}

TEST(DeclaredMetrics, StandByGroupEachOnceAndSayWhatTheyMean) {
  std::set<std::string_view> patterns;
  MetricGroup group{};
  for (const MetricDeclaration& metric : all_metrics()) {
    EXPECT_TRUE(patterns.insert(metric.pattern).second) << metric.pattern;
    EXPECT_FALSE(metric.meaning.empty()) << metric.pattern;
    EXPECT_LE(group, metric_group(metric.pattern)) << metric.pattern;
    group = metric_group(metric.pattern);
  }
}

TEST(DeclaredMetrics, AUnitAtTheEndOfANameIsTheDeclaredOne) {
  const std::map<std::string_view, std::string> unit_of = {{"_ns", "ns"}, {"_us", "us"},      {"s_per_us", "1/us"},
                                                           {"_pct", "%"}, {"s_per_s", "1/s"}, {"mb_per_s", "MB/s"}};
  for (const MetricDeclaration& metric : all_metrics()) {
    std::string_view longest;
    for (const auto& [end, unit] : unit_of) {
      if (metric.pattern.ends_with(end) && end.size() > longest.size()) longest = end;
    }
    if (!longest.empty()) {
      EXPECT_EQ(metric.unit, unit_of.at(longest)) << metric.pattern;
    }
  }
}

TEST(FindMetric, APlaceholderStandsForOnePartSeveralPartsOrANumber) {
  EXPECT_EQ(pattern_of("locks.dcache_lock.con_pct"), "locks.<lock>.con_pct");
  EXPECT_EQ(pattern_of("locks.rq[3].schedule.con_pct"), "locks.<lock>.<call_site>.con_pct");
  EXPECT_EQ(pattern_of("locks.a.b.c.con_pct"), "nothing");
  EXPECT_EQ(pattern_of("litmus.seen.r0_1.r1_0"), "litmus.seen.<outcome...>");
  EXPECT_EQ(pattern_of("link.0_12.mb_per_s"), "link.<a>_<b>.mb_per_s");
  EXPECT_EQ(pattern_of("link.0_x.mb_per_s"), "nothing");
}

TEST(FindMetric, AHitHasTheNumberOfItsLevelAndAMissTheNameOfItsSource) {
  EXPECT_EQ(pattern_of("latency.l3.mean_ns"), "latency.l<i>.mean_ns");
  EXPECT_EQ(pattern_of("latency.local_c2c.mean_ns"), "latency.<source>.mean_ns");
}

TEST(FindMetric, ANameThatIsDeclaredAsItStandsGoesBeforeAPattern) {
  EXPECT_EQ(pattern_of("latency.kernel_offchip.mean_ns"), "latency.kernel_offchip.mean_ns");
  EXPECT_EQ(pattern_of("latency.peaks.count"), "latency.peaks.count");
}

TEST(FindMetric, DoesNotFindAnUndeclaredMetric) {
  for (const char* name : {"", "throughput", "throughput.operation", "locks..con_pct", "cpi.kernel.x", "xcpi.kernel"}) {
    EXPECT_EQ(find_metric(name), nullptr) << name;
  }
}

TEST(DeclaredMetrics, OneOfASingleWorkloadSaysWhichThatIs) {
  EXPECT_THAT(find_metric("tasklist.walk_mean_us")->meaning, testing::StartsWith("workload `tasklist_walk`: "));
  EXPECT_THAT(find_metric("rcu.callbacks")->meaning, testing::StartsWith("callbacks"));
  EXPECT_THAT(find_metric("bus.transactions")->meaning, testing::StartsWith("transactions"));
}

TEST(PointMetrics, AMetricHasTheUnitThatItsLineDeclares) {
  PointData point;
  PointMetrics metrics(point);
  metrics.value("cost.main_memory", "ns", kLower, "a load from memory", 1.5);
  metrics.count("rcu.callbacks", "", kNeither, "callbacks that ran", 3);
  EXPECT_EQ(point.metrics.at("cost.main_memory").unit, "ns");
  EXPECT_EQ(point.metrics.at("rcu.callbacks").unit, "");
  EXPECT_EQ(std::get<std::int64_t>(point.metrics.at("rcu.callbacks").value), 3);
}

TEST(PointMetrics, OmitAMetricWithoutAValue) {
  PointData point;
  PointMetrics metrics(point);
  metrics.value("a.share_pct", "%", kNeither, "of nothing", std::nullopt);
  metrics.mean("a.mean_us", "us", kNeither, "of no samples", 0, 0);
  EXPECT_TRUE(point.metrics.empty());
}

TEST(PointMetrics, AFamilyFillsThePlaceholdersOfItsPatternInTheirOrder) {
  PointData point;
  PointMetrics metrics(point);
  metrics.family("link.<a>_<b>.mb_per_s", "MB/s", kNeither, "what it carried").add({"0", "12"}, 3.0);
  metrics.family("table.<id...>.samples", "", kNeither, "samples").add({"ols2007.fig3"}, std::int64_t{7});
  EXPECT_EQ(point.metrics.at("link.0_12.mb_per_s").unit, "MB/s");
  EXPECT_TRUE(point.metrics.contains("table.ols2007.fig3.samples"));
}

}  // namespace
}  // namespace linebounce::sim
