// What CPUs count, by stretches of time: the series of a rate.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "workloads/program/workload.hpp"

namespace linebounce::workloads {

class Stretches {
 public:
  Stretches(double us, int cpus) : us_(us), counts_(cpus) {}

  // At the CPU's local time.
  void count(const Cpu& cpu, std::int64_t count = 1) {
    OfCpu& own = counts_[cpu.id().value];
    const auto stretch = static_cast<std::size_t>(cpu.to_ns(cpu.local_time()) / 1000 / us_);
    if (stretch >= own.by_stretch.size()) own.by_stretch.resize(stretch + 1);
    own.by_stretch[stretch] += count;
    if (!cpu.measures(cpu.local_time())) return;
    own.first = std::min(own.first, stretch);
    own.last = std::max(own.last, stretch);
  }

  // Of all CPUs together, in a second.
  [[nodiscard]] std::vector<SeriesSample> per_second() const {
    std::vector<SeriesSample> samples;
    for (const std::int64_t count : sums())
      samples.push_back({static_cast<double>(samples.size()) * us_, static_cast<double>(count) * 1e6 / us_});
    return samples;
  }

  // What the stretch with the least has of the mean one, of those that lie whole in the measured time; 100 if there is none.
  [[nodiscard]] double least_pct() const {
    std::size_t first = std::numeric_limits<std::size_t>::max();
    std::size_t last = 0;
    for (const OfCpu& own : counts_) {
      first = std::min(first, own.first);
      last = std::max(last, own.last);
    }
    const std::vector<std::int64_t> counts = sums();
    std::int64_t least = 0;
    std::int64_t all = 0;
    std::int64_t stretches = 0;
    for (std::size_t stretch = first; stretch + 1 < last; ++stretch) {
      const std::int64_t here = counts[stretch + 1];
      least = stretches == 0 ? here : std::min(least, here);
      all += here;
      ++stretches;
    }
    return all == 0 ? 100 : 100 * static_cast<double>(least * stretches) / static_cast<double>(all);
  }

 private:
  struct OfCpu {
    std::vector<std::int64_t> by_stretch;
    std::size_t first = std::numeric_limits<std::size_t>::max(), last = 0;  // that have measured time
  };

  [[nodiscard]] std::vector<std::int64_t> sums() const {
    std::vector<std::int64_t> sums;
    for (const OfCpu& own : counts_) {
      sums.resize(std::max(sums.size(), own.by_stretch.size()));
      for (std::size_t stretch = 0; stretch < own.by_stretch.size(); ++stretch) sums[stretch] += own.by_stretch[stretch];
    }
    return sums;
  }

  double us_;
  std::vector<OfCpu> counts_;
};

}  // namespace linebounce::workloads
