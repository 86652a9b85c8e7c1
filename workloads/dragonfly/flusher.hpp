// HAMMER's flusher: one CPU, to which the disk belongs. For each group it first makes its inodes' changes to the meta-data,
// with the per-mount lock all the while, and then gives the group's dirty buffers to the disk.
#pragma once

#include <vector>

#include "workloads/dragonfly/disk.hpp"
#include "workloads/dragonfly/hammer_mount.hpp"
#include "workloads/dragonfly/stretches.hpp"
#include "workloads/program/random.hpp"

namespace linebounce::workloads {

class Flusher {
 public:
  Flusher(const WorkloadSetup& setting, const HammerOptions& options, HammerMount& mount, Interrupts& interrupts);

  // The program of its CPU.
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
  Random random_;  // which meta-data an inode changes
  std::int64_t sync_cycles_;
  FunctionId idle_, flush_, sync_, wait_;

  struct Progress {  // of the group that is being written
    std::int64_t inodes = 0, buffers = 0, written_before = 0, freed = 0;
  };
  Progress group_;
  std::int64_t to_free_ = 0;  // when the flush is over
  Stretches written_, freed_;
  std::vector<SeriesSample> in_flush_;  // inodes of the group

  Figures figures_;  // but for the disk's
};

}  // namespace linebounce::workloads
