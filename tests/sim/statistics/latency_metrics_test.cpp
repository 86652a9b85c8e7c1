// Shares and means from histograms: which suppliers count as local, and which accesses are left out.
#include "sim/statistics/latency_metrics.hpp"

#include <gmock/gmock.h>

#include "sim/point/point_metrics.hpp"
#include "sim/results/numbers.hpp"

namespace linebounce::sim {
namespace {

// A cycle is 0.5 ns.
PointData metrics_of(const LatencyBins& bins, const LatencyBins& reads) {
  PointData point;
  PointMetrics metrics(point);
  add_latency_metrics(
      bins, reads, [](std::int64_t cycles) { return static_cast<double>(cycles) / 2; }, metrics);
  return point;
}

PointData metrics_of(const LatencyBins& bins) {
  return metrics_of(bins, bins);
}

double value(const PointData& point, const std::string& name) {
  return as_double(point.metrics.at(name).value);
}

const LatencyBins kBins = {{{"kernel", "l1"}, {{4, 1000}}},         {{"kernel", "l2"}, {{20, 100}}},
                           {{"kernel", "local_c2c"}, {{200, 40}}},  {{"kernel", "node_cache"}, {{300, 10}}},
                           {{"kernel", "remote_c2c"}, {{600, 30}}}, {{"kernel", "remote_memory"}, {{400, 20}}},
                           {{"kernel", "upgrade"}, {{150, 77}}},    {{"user", "local_memory"}, {{250, 7}}},
                           {{"user", "remote_c2c"}, {{1000, 1}}}};

// Local: 40 from caches, 10 from the node's memory; remote: 30 and 20. Upgrades and user code do not count.
TEST(LatencyMetrics, AMissIsLocalIfASupplierInTheNodeServedIt) {
  const PointData point = metrics_of(kBins);
  EXPECT_DOUBLE_EQ(value(point, "misses.local_share_pct"), 50);
  EXPECT_DOUBLE_EQ(value(point, "misses.kernel_c2c_share_pct"), 70);
  EXPECT_DOUBLE_EQ(value(point, "latency.local_share_pct"), 100.0 * 11000 / (11000 + 18000 + 8000));
}

// All misses at 300 ns are stores. Shares and peaks count only reads, means count all accesses.
TEST(LatencyMetrics, SharesAndPeaksAreOfReads) {
  const LatencyBins reads = {{{"kernel", "local_c2c"}, {{200, 3000}}}, {{"kernel", "remote_c2c"}, {{400, 1000}}}};
  LatencyBins all = reads;
  all[{"kernel", "remote_c2c"}][600] = 4000;
  const PointData point = metrics_of(all, reads);
  EXPECT_DOUBLE_EQ(value(point, "misses.local_share_pct"), 75);
  EXPECT_DOUBLE_EQ(value(point, "latency.local_share_pct"), 60);
  EXPECT_EQ(value(point, "latency.peaks.count"), 2);
  EXPECT_EQ(value(point, "latency.peaks.2.latency_ns"), 200);
  EXPECT_DOUBLE_EQ(value(point, "latency.kernel_offchip.mean_ns"), (3000 * 100 + 1000 * 200 + 4000 * 300) / 8000.0);
}

TEST(LatencyMetrics, MeansOfAllMissesCountTheHitsInOuterCaches) {
  const PointData point = metrics_of(kBins);
  EXPECT_DOUBLE_EQ(value(point, "latency.kernel_offchip.mean_ns"), 37000.0 / 100 / 2);
  EXPECT_DOUBLE_EQ(value(point, "latency.kernel_l1_misses.mean_ns"), (37000.0 + 2000) / 200 / 2);
  EXPECT_DOUBLE_EQ(value(point, "latency.user_offchip.mean_ns"), (1750.0 + 1000) / 8 / 2);
}

TEST(LatencyMetrics, EverySourceHasItsOwnOfEachKindAndOfBoth) {
  const PointData point = metrics_of(kBins);
  EXPECT_EQ(value(point, "latency.kernel.remote_c2c.count"), 30);
  EXPECT_EQ(value(point, "latency.user.remote_c2c.count"), 1);
  EXPECT_EQ(value(point, "latency.remote_c2c.count"), 31);
  EXPECT_EQ(value(point, "latency.remote_c2c.peak_ns"), 300);
  EXPECT_DOUBLE_EQ(value(point, "latency.kernel.remote_c2c.mean_ns"), 300);
}

TEST(LatencyMetrics, PeaksHaveAHeightInShareOfMissesForEachNanosecond) {
  const PointData point = metrics_of({{{"kernel", "local_c2c"}, {{200, 3000}}}, {{"kernel", "remote_c2c"}, {{600, 1000}}}});
  EXPECT_EQ(value(point, "latency.peaks.count"), 2);
  EXPECT_EQ(value(point, "latency.peaks.1.latency_ns"), 100);
  EXPECT_EQ(value(point, "latency.peaks.2.latency_ns"), 300);
  // The smoothing window is 1/25 of the median: 8 cycles, or 4 ns. Three quarters of the misses have this latency, and are
  // spread over a triangle that is 4 ns wide at half its height.
  EXPECT_DOUBLE_EQ(value(point, "latency.peaks.1.height"), 75.0 / 4);
}

TEST(LatencyMetrics, ARunThatMissedNothingHasNoShares) {
  const PointData point = metrics_of({{{"kernel", "l1"}, {{4, 1000}}}});
  EXPECT_FALSE(point.metrics.contains("misses.local_share_pct"));
  EXPECT_FALSE(point.metrics.contains("latency.peaks.count"));
  EXPECT_EQ(value(point, "latency.l1.peak_ns"), 2);
}

}  // namespace
}  // namespace linebounce::sim
