// Finds the peaks of a latency histogram. Uses only integers, so that every compiler finds the same ones, and only the
// histogram, not the suppliers of the data.
//
// The histogram is smoothed by a triangle of half width w: a running sum over w cycles, twice. That removes the comb that
// clocks slower than the CPU's leave in a histogram, and preserves its sums. The result is linear between the points bin - w,
// bin, bin + w, so it is exact and costs the same for any range of latencies.
//
// The prominence of a maximum is its height above the higher of the two valleys that separate it from anything higher. A
// maximum counts as a peak if its prominence is at least
// - 1/8 of its own height, which excludes shoulders;
// - 1/200 of the highest maximum, which excludes specks in the tail;
// - four standard deviations of the counts below peak and valley, which excludes chance.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace linebounce::sim {

using Histogram = std::map<std::int64_t, std::int64_t>;  // by latency in cycles: the count, which is positive

struct Peak {
  std::int64_t latency = 0;  // cycles
  std::int64_t height = 0;   // smoothed count per cycle, times window^2
  friend bool operator==(const Peak&, const Peak&) = default;
};

// Half width of the smoothing triangle in cycles: 1/25 of the median latency, at least 1. Closer peaks are merged.
std::int64_t smoothing_window(const Histogram& histogram);

// Sorted by latency. REQUIRES: window >= 1, and fewer than 2^62 / window^2 counts.
std::vector<Peak> find_peaks(const Histogram& histogram, std::int64_t window);

// The latency at which the smoothed histogram is highest; the smallest of several. REQUIRES: as for find_peaks(), and the
// histogram is not empty.
std::int64_t mode(const Histogram& histogram, std::int64_t window);

}  // namespace linebounce::sim
