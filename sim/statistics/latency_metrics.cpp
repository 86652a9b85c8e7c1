#include "sim/statistics/latency_metrics.hpp"

#include <set>

#include "sim/statistics/share.hpp"

namespace linebounce::sim {

using namespace workloads;

namespace {

// Sources of off-chip misses, whose data came from outside the core. An upgrade moves no data, so it is in neither set.
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

// Metric families for the accesses that one source served: count, mean and mode.
struct SourceFamilies {
  MetricFamily count, mean_ns, peak_ns;
};

class LatencyMetrics {
 public:
  LatencyMetrics(const LatencyBins& bins, const LatencyBins& reads, const std::function<double(std::int64_t)>& to_ns,
                 MetricSink& metrics)
      : bins_(bins), reads_(reads), to_ns_(to_ns), metrics_(metrics) {}

  void add() {
    const Histogram read = together(reads_, "kernel", is_off_chip);
    window_ = smoothing_window(read.empty() ? together(bins_, "", misses_l1) : read);
    by_source();
    metrics_.value(
        "latency.kernel_offchip.mean_ns", "ns", kLower,
        "mean over the kernel's off-chip misses: those that somebody outside the core supplied with data. Upgrades are none",
        mean_ns(together(bins_, "kernel", is_off_chip)));
    metrics_.value("latency.user_offchip.mean_ns", "ns", kLower, "mean over user code's off-chip misses",
                   mean_ns(together(bins_, "user", is_off_chip)));
    metrics_.value(
        "latency.kernel_l1_misses.mean_ns", "ns", kLower,
        "mean over all the kernel's misses of L1: those off chip, and hits in the core's outer caches with their latency",
        mean_ns(together(bins_, "kernel", misses_l1)));
    metrics_.value("latency.user_l1_misses.mean_ns", "ns", kLower, "mean over all user code's misses of L1",
                   mean_ns(together(bins_, "user", misses_l1)));
    local_shares(read);
    const std::optional<std::vector<Peak>> of_kernel = peaks(read);
    metrics_.count("latency.peaks.count", "", kNeither,
                   "peaks of the kernel's off-chip misses of loads and atomic operations, all sources in one histogram",
                   count_of(of_kernel), kDetail);
    const MetricFamily latency = metrics_.family("latency.peaks.<i>.latency_ns", "ns", kNeither,
                                                 "where that peak is; they are numbered from 1, by latency", kDetail);
    const MetricFamily height =
        metrics_.family("latency.peaks.<i>.height", "%/ns", kNeither,
                        "that peak's height: the share of the misses in each nanosecond there", kDetail);
    add_peaks(of_kernel, read, latency, height);
    const Histogram user_read = together(reads_, "user", is_off_chip);
    const std::optional<std::vector<Peak>> of_user = peaks(user_read);
    metrics_.count("latency.user_peaks.count", "", kNeither,
                   "peaks of user code's off-chip misses of loads and atomic operations", count_of(of_user), kDetail);
    const MetricFamily user_latency =
        metrics_.family("latency.user_peaks.<i>.latency_ns", "ns", kNeither, "where that peak of user code's is", kDetail);
    const MetricFamily user_height =
        metrics_.family("latency.user_peaks.<i>.height", "%/ns", kNeither, "the height of that peak of user code's", kDetail);
    add_peaks(of_user, user_read, user_latency, user_height);
  }

 private:
  // One histogram over all sources of a kind ("": both kinds) that `wanted` accepts.
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
    const SourceFamilies of_level{
        metrics_.family("latency.l<i>.count", "", kNeither, "hits in the own cache of that level", kDetail),
        metrics_.family("latency.l<i>.mean_ns", "ns", kLower, "mean latency of these hits: the level's", kDetail),
        metrics_.family("latency.l<i>.peak_ns", "ns", kLower, "the most frequent latency of these hits: the level's", kDetail)};
    const SourceFamilies of_source{
        metrics_.family("latency.<source>.count", "", kNeither, "accesses with that source", kDetail),
        metrics_.family("latency.<source>.mean_ns", "ns", kLower,
                        "mean latency of accesses with that source, of a miss from the first attempt to the operation's start"),
        metrics_.family("latency.<source>.peak_ns", "ns", kLower,
                        "the most frequent latency of accesses with that source, of the smoothed histogram", kDetail)};
    const SourceFamilies of_kind{
        metrics_.family("latency.<kind>.<source>.count", "", kNeither,
                        "accesses of that kind alone, `kernel` or `user`, with that source; hits too", kDetail),
        metrics_.family("latency.<kind>.<source>.mean_ns", "ns", kLower,
                        "mean latency of accesses of that kind with that source", kDetail),
        metrics_.family("latency.<kind>.<source>.peak_ns", "ns", kLower,
                        "the most frequent latency of accesses of that kind with that source", kDetail)};
    std::map<std::string, Histogram> by_source;
    for (const auto& [key, histogram] : bins_) {
      source(of_kind, {key.first, key.second}, histogram);
      for (const auto& [latency, count] : histogram) by_source[key.second][latency] += count;
    }
    for (const auto& [name, histogram] : by_source) {
      const bool is_level = !is_off_chip(name) && name != "upgrade";
      if (is_level) source(of_level, {name.substr(1)}, histogram);
      if (!is_level) source(of_source, {name}, histogram);
    }
  }

  // REQUIRES: `histogram` is not empty.
  void source(const SourceFamilies& families, std::initializer_list<std::string_view> name, const Histogram& histogram) {
    families.count.add(name, sums_of(histogram).count);
    families.mean_ns.add(name, *mean_ns(histogram));
    families.peak_ns.add(name, to_ns_(mode(histogram, window_)));
  }

  [[nodiscard]] std::optional<double> mean_ns(const Histogram& histogram) const {
    const Sums sums = sums_of(histogram);
    if (sums.count == 0) return std::nullopt;
    return to_ns_(sums.cycles) / static_cast<double>(sums.count);
  }

  void local_shares(const Histogram& off_chip) {
    const Sums all = sums_of(off_chip);
    const Sums local =
        sums_of(together(reads_, "kernel", [](const std::string& source) { return kLocalSources.contains(source); }));
    const Sums caches = sums_of(together(reads_, "kernel", [](const std::string& source) { return source.ends_with("_c2c"); }));
    const auto share = [](std::int64_t part, std::int64_t whole) {
      return whole > 0 ? std::optional(share_pct(part, whole)) : std::nullopt;
    };
    metrics_.value("misses.local_share_pct", "%", kHigher,
                   "of the kernel's off-chip misses of loads and atomic operations: supplied in the requester's node, wherever "
                   "the line's home is",
                   share(local.count, all.count), kDetail);
    metrics_.value("latency.local_share_pct", "%", kHigher,
                   "of these misses' latency: of those supplied in the requester's node", share(local.cycles, all.cycles),
                   kDetail);
    metrics_.value("misses.kernel_c2c_share_pct", "%", kNeither,
                   "of the kernel's off-chip misses of loads and atomic operations: supplied by caches",
                   share(caches.count, all.count), kDetail);
  }

  // None for an empty histogram.
  [[nodiscard]] std::optional<std::vector<Peak>> peaks(const Histogram& histogram) const {
    return histogram.empty() ? std::nullopt : std::optional(find_peaks(histogram, window_));
  }

  static std::optional<std::int64_t> count_of(const std::optional<std::vector<Peak>>& peaks) {
    return peaks ? std::optional(static_cast<std::int64_t>(peaks->size())) : std::nullopt;
  }

  void add_peaks(const std::optional<std::vector<Peak>>& peaks, const Histogram& histogram, const MetricFamily& latency,
                 const MetricFamily& height) const {
    if (!peaks) return;
    const double whole = to_ns_(sums_of(histogram).count) * static_cast<double>(window_) * static_cast<double>(window_) / 100;
    for (std::size_t i = 0; i < peaks->size(); ++i) {
      const std::string number = std::to_string(i + 1);
      latency.add({number}, to_ns_((*peaks)[i].latency));
      height.add({number}, static_cast<double>((*peaks)[i].height) / whole);
    }
  }

  const LatencyBins& bins_;
  const LatencyBins& reads_;
  const std::function<double(std::int64_t)>& to_ns_;
  MetricSink& metrics_;
  std::int64_t window_ = 1;  // smoothing window; the same for the whole run, so that modes can be compared with peaks
};

}  // namespace

void add_latency_metrics(const LatencyBins& bins, const LatencyBins& reads, const std::function<double(std::int64_t)>& to_ns,
                         MetricSink& metrics) {
  LatencyMetrics(bins, reads, to_ns, metrics).add();
}

}  // namespace linebounce::sim
