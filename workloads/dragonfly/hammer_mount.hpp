// What readers, writers and the flusher of a mounted HAMMER share, in simulated memory: the per-mount lock, the flush groups
// with their dirty buffers, and how many inodes may still become dirty.
#pragma once

#include <optional>

#include "workloads/dragonfly/dirty_buffers.hpp"
#include "workloads/dragonfly/hammer_options.hpp"
#include "workloads/program/workload.hpp"

namespace linebounce::workloads {

class HammerMount {
 public:
  HammerMount(const WorkloadSetup& setting, const HammerOptions& options);

  [[nodiscard]] MeteredLock& lock() const { return *lock_; }

  // A writer's: waits until an inode may become dirty. / The inode, with its data, is in the open group. REQUIRES: holds the
  // lock.
  void take_inode(Cpu& cpu) const;
  void add_inode(Cpu& cpu);

  // The flusher's: waits until a flush is due. / How many groups it has to flush then; the open one is closed, unless groups
  // are even. REQUIRES: holds the lock. / The eldest of them, and then the next.
  void wait_for_flush(Cpu& cpu) const;
  [[nodiscard]] std::int64_t close_groups(Cpu& cpu);
  [[nodiscard]] Address eldest_group(Cpu& cpu) const;
  void end_group(Cpu& cpu);

  [[nodiscard]] static std::int64_t inodes_of(Cpu& cpu, Address group);
  [[nodiscard]] static std::int64_t buffers_of(Cpu& cpu, Address group);
  // A buffer of meta-data becomes dirty. REQUIRES: number < meta_buffers.
  void add_meta(Cpu& cpu, Address group, std::uint64_t number);
  // The next buffer's place on the disk; none: all have been taken.
  [[nodiscard]] std::optional<std::int64_t> take_buffer(Cpu& cpu, Address group);
  void free_inodes(Cpu& cpu, std::int64_t inodes) const;

 private:
  void place(AddressSpace& memory);
  [[nodiscard]] Address group_at(std::uint64_t number) const;
  void add_buffer(Cpu& cpu, Address group, std::uint64_t io, bool is_new);

  HammerOptions options_;
  MeteredLock* lock_;
  DirtyBuffers dirty_;
  std::uint64_t meta_, data_, groups_count_;
  Address free_ = 0;     // inodes that may become dirty
  Address waiting_ = 0;  // inodes in groups whose flush has not begun
  Address state_ = 0;    // under the lock
  Address groups_ = 0, ios_ = 0;
};

}  // namespace linebounce::workloads
