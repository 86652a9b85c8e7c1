#include "sim/simulation/latency_metrics.hpp"

#include <fmt/format.h>

#include <set>

#include "sim/simulation/share.hpp"

namespace linebounce::sim {
namespace {

// Off-chip misses are those that somebody outside the core supplied with data. An upgrade has no supplier and is none of them.
const std::set<std::string> kLocalSources = {"local_c2c", "local_memory", "node_cache"};
const std::set<std::string> kRemoteSources = {"remote_memory", "remote_c2c"};

bool is_off_chip(const std::string& source) {
  return kLocalSources.contains(source) || kRemoteSources.contains(source);
}

bool misses_l1(const std::string& source) {
  return source != "l1" && source != "upgrade";
}

struct Sums {
  std::int64_t count = 0;
  std::int64_t cycles = 0;
};

Sums sums_of(const Histogram& histogram) {
  Sums sums;
  for (const auto& [latency, count] : histogram) {
    sums.count += count;
    sums.cycles += latency * count;
  }
  return sums;
}

class LatencyMetrics {
 public:
  LatencyMetrics(const LatencyBins& bins, const LatencyBins& reads, const std::function<double(std::int64_t)>& to_ns,
                 PointData& point)
      : bins_(bins), reads_(reads), to_ns_(to_ns), point_(point) {}

  void add() {
    const Histogram read = together(reads_, "kernel", is_off_chip);
    window_ = smoothing_window(read.empty() ? together(bins_, "", misses_l1) : read);
    by_source();
    mean("latency.kernel_offchip", together(bins_, "kernel", is_off_chip));
    mean("latency.user_offchip", together(bins_, "user", is_off_chip));
    mean("latency.kernel_l1_misses", together(bins_, "kernel", misses_l1));
    mean("latency.user_l1_misses", together(bins_, "user", misses_l1));
    local_shares(read);
    peaks("latency.peaks", read);
    peaks("latency.user_peaks", together(reads_, "user", is_off_chip));
  }

 private:
  // All sources of a kind ("": both) that `wanted` takes, as one histogram.
  template <class Wanted>
  [[nodiscard]] static Histogram together(const LatencyBins& bins, const std::string& kind, Wanted wanted) {
    Histogram all;
    for (const auto& [key, histogram] : bins) {
      if ((!kind.empty() && key.first != kind) || !wanted(key.second)) continue;
      for (const auto& [latency, count] : histogram) all[latency] += count;
    }
    return all;
  }

  void by_source() {
    std::map<std::string, Histogram> by_source;
    for (const auto& [key, histogram] : bins_) {
      source("latency." + key.first + "." + key.second, histogram);
      for (const auto& [latency, count] : histogram) by_source[key.second][latency] += count;
    }
    for (const auto& [name, histogram] : by_source) source("latency." + name, histogram);
  }

  void source(const std::string& name, const Histogram& histogram) {
    point_.add_metric(name + ".count", sums_of(histogram).count);
    mean(name, histogram);
    point_.add_metric(name + ".peak_ns", to_ns_(mode(histogram, window_)));
  }

  void mean(const std::string& name, const Histogram& histogram) {
    const Sums sums = sums_of(histogram);
    if (sums.count > 0) point_.add_metric(name + ".mean_ns", to_ns_(sums.cycles) / static_cast<double>(sums.count));
  }

  void local_shares(const Histogram& off_chip) {
    const Sums all = sums_of(off_chip);
    if (all.count == 0) return;
    const Sums local =
        sums_of(together(reads_, "kernel", [](const std::string& source) { return kLocalSources.contains(source); }));
    point_.add_metric("misses.local_share_pct", share_pct(local.count, all.count));
    const Sums caches = sums_of(together(reads_, "kernel", [](const std::string& source) { return source.ends_with("_c2c"); }));
    point_.add_metric("misses.kernel_c2c_share_pct", share_pct(caches.count, all.count));
    if (all.cycles > 0) point_.add_metric("latency.local_share_pct", share_pct(local.cycles, all.cycles));
  }

  void peaks(const std::string& name, const Histogram& histogram) {
    if (histogram.empty()) return;
    const std::vector<Peak> found = find_peaks(histogram, window_);
    point_.add_metric(name + ".count", static_cast<std::int64_t>(found.size()));
    const double whole = to_ns_(sums_of(histogram).count) * static_cast<double>(window_) * static_cast<double>(window_) / 100;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const std::string peak = fmt::format("{}.{}", name, i + 1);
      point_.add_metric(peak + ".latency_ns", to_ns_(found[i].latency));
      point_.add_metric(peak + ".height", static_cast<double>(found[i].height) / whole);
    }
  }

  const LatencyBins& bins_;
  const LatencyBins& reads_;
  const std::function<double(std::int64_t)>& to_ns_;
  PointData& point_;
  std::int64_t window_ = 1;  // one for all of a run, so that a source's mode can be held against the peaks
};

}  // namespace

void add_latency_metrics(const LatencyBins& bins, const LatencyBins& reads, const std::function<double(std::int64_t)>& to_ns,
                         PointData& point) {
  LatencyMetrics(bins, reads, to_ns, point).add();
}

}  // namespace linebounce::sim
