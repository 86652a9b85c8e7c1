// Peaks in synthetic histograms: finds all of them, and no others.
#include "sim/statistics/peaks.hpp"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "workloads/program/random.hpp"

namespace linebounce::sim {

using namespace workloads;

namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// `count` samples around `centre`: each is the sum of four uniform draws, so the hump is bell-shaped, at most `width` to each
// side.
void add_hump(Histogram& histogram, std::int64_t centre, std::int64_t width, int count, Random& random) {
  for (int i = 0; i < count; ++i) {
    std::int64_t sum = 0;
    for (int draw = 0; draw < 4; ++draw) sum += static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(width) + 1));
    ++histogram[centre + sum / 2 - width];
  }
}

std::vector<std::int64_t> latencies(const std::vector<Peak>& peaks) {
  std::vector<std::int64_t> result;
  for (const Peak& peak : peaks) result.push_back(peak.latency);
  return result;
}

TEST(Peaks, OfAnEmptyHistogramAreNone) {
  EXPECT_THAT(find_peaks({}, smoothing_window({})), IsEmpty());
}

TEST(Peaks, AHandfulOfSamplesIsNone) {
  EXPECT_THAT(find_peaks({{100, 1}, {300, 2}}, 10), IsEmpty());
}

TEST(Peaks, OfASingleLatencyAreOneAtExactlyThatLatency) {
  EXPECT_THAT(find_peaks({{133, 1000}}, 13), ElementsAre(Peak{133, 13 * 1000}));
}

TEST(Peaks, TheWindowIsATwentyFifthOfTheMedian) {
  EXPECT_EQ(smoothing_window({{100, 10}, {200, 10}, {300, 10}}), 8);
  EXPECT_EQ(smoothing_window({{5, 10}}), 1);
}

// As in figure 1 of OLS 2007: peaks at 130, 170, 212 and 265 ns at 1.6 GHz, the third one low.
TEST(Peaks, FourAreFoundThoughOneIsLow) {
  Random random(1, 0, 0);
  Histogram histogram;
  add_hump(histogram, 208, 20, 40000, random);
  add_hump(histogram, 272, 24, 18000, random);
  add_hump(histogram, 339, 24, 6000, random);
  add_hump(histogram, 424, 40, 20000, random);
  const std::vector<Peak> peaks = find_peaks(histogram, smoothing_window(histogram));
  ASSERT_THAT(peaks, SizeIs(4));
  EXPECT_NEAR(static_cast<double>(peaks[0].latency), 208, 4);
  EXPECT_NEAR(static_cast<double>(peaks[1].latency), 272, 4);
  EXPECT_NEAR(static_cast<double>(peaks[2].latency), 339, 4);
  EXPECT_NEAR(static_cast<double>(peaks[3].latency), 424, 6);
  EXPECT_GT(peaks[0].height, peaks[1].height);
  EXPECT_GT(peaks[1].height, peaks[2].height);
  EXPECT_LT(peaks[2].height, peaks[3].height);
}

// Events that wait for a bus happen at its clock edges, so samples come every 12 cycles and none in between.
TEST(Peaks, ACombOfASlowerClockIsOneHump) {
  Histogram histogram;
  for (int tooth = -5; tooth <= 5; ++tooth) histogram[300 + 12 * tooth] = 1000 - 150 * std::abs(tooth);
  EXPECT_THAT(latencies(find_peaks(histogram, smoothing_window(histogram))), ElementsAre(300));
}

TEST(Peaks, ALongThinTailHasNone) {
  Random random(2, 0, 0);
  Histogram histogram;
  add_hump(histogram, 200, 20, 50000, random);
  for (int i = 0; i < 3000; ++i) ++histogram[230 + static_cast<std::int64_t>(random.below(4000))];
  EXPECT_THAT(latencies(find_peaks(histogram, smoothing_window(histogram))), SizeIs(1));
}

TEST(Peaks, AShoulderIsNone) {
  Histogram histogram;
  for (std::int64_t x = 0; x <= 100; ++x) histogram[200 + x] = 10000 - 95 * x + (x > 40 && x < 50 ? 150 : 0);
  EXPECT_THAT(find_peaks(histogram, 20), SizeIs(1));
}

TEST(Peaks, OfAPlateauAreInItsMiddle) {
  EXPECT_THAT(latencies(find_peaks({{100, 1000}, {110, 1000}}, 10)), ElementsAre(105));
}

TEST(Peaks, TheModeIsTheHighestOfThem) {
  const Histogram histogram = {{100, 500}, {200, 900}, {205, 300}, {400, 1000}};
  EXPECT_EQ(mode(histogram, 1), 400);
  EXPECT_EQ(mode(histogram, 20), 200) << "smoothed, 205 counts to 200";
}

RC_GTEST_PROP(Peaks, MoveWithTheirHistogramAndGrowWithItsCounts, ()) {
  const auto bins =
      *rc::gen::container<Histogram>(rc::gen::inRange<std::int64_t>(100, 2000), rc::gen::inRange<std::int64_t>(1, 5000));
  const auto shift = *rc::gen::inRange<std::int64_t>(0, 1000);
  Histogram moved;
  for (const auto& [latency, count] : bins) moved[latency + shift] = count;
  const std::vector<Peak> peaks = find_peaks(bins, 15);
  const std::vector<Peak> after = find_peaks(moved, 15);
  RC_ASSERT(peaks.size() == after.size());
  for (std::size_t i = 0; i < peaks.size(); ++i) RC_ASSERT((after[i] == Peak{peaks[i].latency + shift, peaks[i].height}));
}

}  // namespace
}  // namespace linebounce::sim
