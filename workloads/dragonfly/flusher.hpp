// HAMMER's flusher: one CPU, which owns the disk. For each group, it first applies the inodes' changes to the meta-data and
// holds the per-mount lock all that time. Then it gives the group's dirty buffers to the disk.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "workloads/dragonfly/disk.hpp"
#include "workloads/dragonfly/hammer_mount.hpp"
#include "workloads/program/random.hpp"
#include "workloads/program/workload.hpp"

namespace linebounce::workloads {

// Counts events per stretch of simulated time, for a time series of their rate.
class Stretches {
 public:
  Stretches(double us, int cpus) : us_(us), counts_(cpus) {}

  // Counts at the CPU's local time.
  void count(const Cpu& cpu, std::int64_t count = 1) {
    OfCpu& own = counts_[cpu.id().value];
    const auto stretch = static_cast<std::size_t>(cpu.to_ns(cpu.local_time()) / 1000 / us_);
    if (stretch >= own.by_stretch.size()) own.by_stretch.resize(stretch + 1);
    own.by_stretch[stretch] += count;
    if (!cpu.measures(cpu.local_time())) return;
    own.first = std::min(own.first, stretch);
    own.last = std::max(own.last, stretch);
  }

  // The rate of all CPUs together, per second.
  [[nodiscard]] std::vector<SeriesSample> per_second() const {
    std::vector<SeriesSample> samples;
    for (const std::int64_t count : sums())
      samples.push_back({static_cast<double>(samples.size()) * us_, static_cast<double>(count) * 1e6 / us_});
    return samples;
  }

  // The smallest stretch's count, in percent of the mean. Considers only stretches that lie completely in the measured time;
  // 100 if there are none.
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
    std::size_t first = std::numeric_limits<std::size_t>::max(), last = 0;  // range of stretches that overlap the measured time
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

class Flusher {
 public:
  Flusher(const WorkloadSetup& setting, const HammerOptions& options, HammerMount& mount, Interrupts& interrupts);

  // The program of the flusher's CPU.
  void run(Cpu& cpu);

  struct Figures {
    std::int64_t flushes = 0, groups = 0, inodes = 0;
    double flush_ns = 0;
    Disk::Figures disk = {};
    void report(MetricSink& metrics) const;
  };
  [[nodiscard]] Figures figures() const;
  void report_series(MetricSink& metrics) const;

 private:
  void flush(Cpu& cpu);
  void sync_inodes(Cpu& cpu, Address group);
  void write_buffers(Cpu& cpu, Address group);
  void commit(Cpu& cpu);
  void write(Cpu& cpu, std::int64_t block);
  void wait_for_disk(Cpu& cpu);
  void note_progress(Cpu& cpu);
  void free(Cpu& cpu, std::int64_t inodes);

  HammerOptions options_;
  HammerMount& mount_;
  Disk disk_;
  Random random_;  // chooses the meta-data that an inode changes
  std::int64_t sync_cycles_;
  FunctionId idle_, flush_, sync_, wait_;

  struct Progress {  // progress of the group that is being written
    std::int64_t inodes = 0, buffers = 0, written_before = 0, freed = 0;
  };
  Progress group_;
  std::int64_t to_free_ = 0;  // inodes to free when the flush is over
  Stretches written_, freed_;
  std::vector<SeriesSample> in_flush_;  // the series of inodes in the group that is being flushed

  Figures figures_;  // without the disk's
};

}  // namespace linebounce::workloads
