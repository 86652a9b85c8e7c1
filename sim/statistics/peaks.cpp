#include "sim/statistics/peaks.hpp"

#include <algorithm>
#include <iterator>

namespace linebounce::sim {
namespace {

constexpr std::int64_t kWindowsInMedian = 25;
constexpr std::int64_t kShareOfItself = 8;
constexpr std::int64_t kShareOfHighest = 200;

// Returns the smoothed histogram at the points between which it is linear. A count c at latency x adds a triangle with corners
// at x - w, x (height c w) and x + w. So the slope changes by c, -2c and c at these three points.
std::vector<Peak> smooth(const Histogram& histogram, std::int64_t window) {
  std::map<std::int64_t, std::int64_t> bends;
  for (const auto& [latency, count] : histogram) {
    bends[latency - window] += count;
    bends[latency] -= 2 * count;
    bends[latency + window] += count;
  }
  std::vector<Peak> points;
  std::int64_t height = 0;
  std::int64_t slope = 0;
  for (const auto& [latency, bend] : bends) {
    if (!points.empty()) height += slope * (latency - points.back().latency);
    slope += bend;
    points.push_back({latency, height});
  }
  return points;
}

// Returns maxima and valleys alternately. The first and last entries are valleys of height 0. A plateau is represented by its
// middle.
std::vector<Peak> extrema(const std::vector<Peak>& points) {
  std::vector<Peak> level;  // without equal neighbours
  for (std::size_t i = 0; i < points.size();) {
    std::size_t end = i + 1;
    while (end < points.size() && points[end].height == points[i].height) ++end;
    level.push_back({(points[i].latency + points[end - 1].latency) / 2, points[i].height});
    i = end;
  }
  std::vector<Peak> turns;
  for (std::size_t i = 0; i < level.size(); ++i) {
    const bool inside = i > 0 && i + 1 < level.size();
    if (inside && (level[i - 1].height < level[i].height) == (level[i].height < level[i + 1].height)) continue;
    turns.push_back(level[i]);
  }
  return turns;
}

// The lowest height between extremum `from` and the next higher one in direction `step`; 0 if none is higher.
std::int64_t valley(const std::vector<Peak>& turns, std::size_t from, int step) {
  std::int64_t lowest = turns[from].height;
  for (std::size_t i = from;;) {
    if (step < 0 ? i == 0 : i + 1 == turns.size()) return 0;
    i = step < 0 ? i - 1 : i + 1;
    if (turns[i].height > turns[from].height) return lowest;
    lowest = std::min(lowest, turns[i].height);
  }
}

// True if the prominence exceeds four standard deviations. A count's standard deviation is its square root. Smoothed by the
// triangle, a height's variance is 2/3 of the window times the height (the sum of squared weights over the sum of weights). So
// the condition is prominence^2 > 16 * 2/3 window (peak + valley).
bool beyond_chance(std::int64_t prominence, std::int64_t height, std::int64_t window) {
  const std::int64_t both = height + (height - prominence);
  return prominence / window > 32 * both / (3 * prominence);
}

}  // namespace

std::int64_t smoothing_window(const Histogram& histogram) {
  std::int64_t total = 0;
  for (const auto& [latency, count] : histogram) total += count;
  std::int64_t below = 0;
  for (const auto& [latency, count] : histogram) {
    below += count;
    if (2 * below >= total) return std::max<std::int64_t>(1, latency / kWindowsInMedian);
  }
  return 1;
}

std::vector<Peak> find_peaks(const Histogram& histogram, std::int64_t window) {
  const std::vector<Peak> turns = extrema(smooth(histogram, window));
  std::int64_t highest = 0;
  for (const Peak& turn : turns) highest = std::max(highest, turn.height);
  std::vector<Peak> peaks;
  for (std::size_t i = 1; i + 1 < turns.size(); ++i) {
    const std::int64_t height = turns[i].height;
    if (height < turns[i - 1].height) continue;
    const std::int64_t prominence = height - std::max(valley(turns, i, -1), valley(turns, i, +1));
    if (prominence * kShareOfItself < height || prominence < highest / kShareOfHighest) continue;
    if (beyond_chance(prominence, height, window)) peaks.push_back(turns[i]);
  }
  return peaks;
}

std::int64_t mode(const Histogram& histogram, std::int64_t window) {
  const std::vector<Peak> points = smooth(histogram, window);
  return std::ranges::max_element(points, [](const Peak& a, const Peak& b) { return a.height < b.height; })->latency;
}

}  // namespace linebounce::sim
