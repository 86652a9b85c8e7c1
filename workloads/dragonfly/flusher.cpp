#include "workloads/dragonfly/flusher.hpp"

#include "workloads/program/times.hpp"

namespace linebounce::workloads {
namespace {

constexpr std::uint64_t kMetaStream = 12;
// After a group's buffers, the flush writes these blocks, which make it valid: the end of the UNDO area and the volume's
// header.
constexpr std::int64_t kUndoBlock = 600000;
constexpr std::int64_t kVolumeHeader = 0;

}  // namespace

Flusher::Flusher(const WorkloadSetup& setting, const HammerOptions& options, HammerMount& mount, Interrupts& interrupts)
    : options_(options),
      mount_(mount),
      disk_(options.disk, interrupts),
      random_(setting.seed, 0, kMetaStream),
      sync_cycles_(cycles(options.sync_us / options.write_speed, setting.machine)),
      idle_(setting.memory.function("idle", Mode::kernel)),
      flush_(setting.memory.function("hammer_flusher_flush", Mode::kernel)),
      sync_(setting.memory.function("hammer_sync_inode", Mode::kernel)),
      wait_(setting.memory.function("hammer_io_wait_all", Mode::kernel)),
      written_(options.series_us, setting.machine.cpus),
      freed_(options.series_us, setting.machine.cpus) {}

void Flusher::run(Cpu& cpu) {
  for (;;) {
    {
      const FunctionScope scope(cpu, idle_);
      mount_.wait_for_flush(cpu);
    }
    const double began_ns = cpu.now_ns();
    flush(cpu);
    if (!cpu.measures(cpu.local_time())) continue;
    ++figures_.flushes;
    figures_.flush_ns += cpu.now_ns() - began_ns;
  }
}

void Flusher::flush(Cpu& cpu) {
  const FunctionScope scope(cpu, flush_);
  mount_.lock().acquire(cpu);
  const std::int64_t groups = mount_.close_groups(cpu);
  mount_.lock().release(cpu);
  for (std::int64_t number = 0; number < groups; ++number) {
    const Address group = mount_.eldest_group(cpu);
    sync_inodes(cpu, group);
    in_flush_.push_back({cpu.now_ns() / 1000, static_cast<double>(group_.inodes)});
    write_buffers(cpu, group);
    commit(cpu);
    mount_.end_group(cpu);
    in_flush_.push_back({cpu.now_ns() / 1000, 0});
  }
  free(cpu, to_free_);
  to_free_ = 0;
}

void Flusher::sync_inodes(Cpu& cpu, Address group) {
  const FunctionScope scope(cpu, sync_);
  mount_.lock().acquire(cpu);
  group_ = {.inodes = HammerMount::inodes_of(cpu, group)};
  for (std::int64_t inode = 0; inode < group_.inodes; ++inode) {
    if (sync_cycles_ > 0) cpu.compute(sync_cycles_);
    for (int meta = 0; meta < options_.meta_per_file; ++meta)
      mount_.add_meta(cpu, group, random_.below(static_cast<std::uint64_t>(options_.meta_buffers)));
  }
  group_.buffers = HammerMount::buffers_of(cpu, group);
  mount_.lock().release(cpu);
  if (!cpu.measures(cpu.local_time())) return;
  ++figures_.groups;
  figures_.inodes += group_.inodes;
}

void Flusher::write_buffers(Cpu& cpu, Address group) {
  group_.written_before = disk_.written();
  while (const auto block = mount_.take_buffer(cpu, group)) {
    write(cpu, *block);
    note_progress(cpu);
  }
  while (!disk_.idle()) {
    wait_for_disk(cpu);
    note_progress(cpu);
  }
  if (!options_.freed_steadily()) to_free_ += group_.inodes;
}

void Flusher::commit(Cpu& cpu) {
  for (const std::int64_t block : {kUndoBlock, kVolumeHeader}) {
    write(cpu, block);
    while (!disk_.idle()) wait_for_disk(cpu);
  }
  note_progress(cpu);
}

void Flusher::write(Cpu& cpu, std::int64_t block) {
  while (disk_.full()) wait_for_disk(cpu);
  disk_.write(cpu, block);
}

// A wake-up may announce a write that the flusher has already seen, so it checks again.
void Flusher::wait_for_disk(Cpu& cpu) {
  const FunctionScope scope(cpu, wait_);
  cpu.sleep();
}

// Frees the same share of the group's inodes as the share of its buffers that has reached the disk.
void Flusher::note_progress(Cpu& cpu) {
  if (!options_.freed_steadily()) return;
  const std::int64_t done = std::min(disk_.written() - group_.written_before, group_.buffers);
  const std::int64_t due = group_.inodes * done / group_.buffers;
  free(cpu, due - group_.freed);
  group_.freed = due;
}

void Flusher::free(Cpu& cpu, std::int64_t inodes) {
  mount_.free_inodes(cpu, inodes);
  freed_.count(cpu, inodes);
}

Flusher::Figures Flusher::figures() const {
  Figures figures = figures_;
  figures.disk = disk_.figures();
  return figures;
}

void Flusher::Figures::report(MetricSink& metrics) const {
  metrics.mean("hammer.flush_mean_ms", "ms", kLower, "time of a flush, mean", flush_ns / 1e6, flushes);
  metrics.mean("hammer.group_inodes_mean", "", kNeither, "inodes of a flush group, mean", static_cast<double>(inodes), groups);
  metrics.mean("hammer.disk_write_mean_us", "us", kLower, "time of the disk for a buffer, mean",
               static_cast<double>(disk.busy_ns) / 1000, disk.writes);
  metrics.mean("hammer.disk_seeks_pct", "%", kLower, "of the disk's writes, those on another track",
               100 * static_cast<double>(disk.seeks), disk.writes);
}

void Flusher::report_series(MetricSink& metrics) const {
  metrics.series("hammer.disk_writes_per_s", written_.per_second());
  metrics.series("hammer.inodes_freed_per_s", freed_.per_second());
  metrics.series("hammer.inodes_in_flush", in_flush_);
}

}  // namespace linebounce::workloads
