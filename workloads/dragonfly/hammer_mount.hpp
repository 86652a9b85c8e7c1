// The state that readers, writers and the flusher of a mounted HAMMER share in simulated memory: the per-mount lock, the flush
// groups with their dirty buffers, and the number of inodes that may still become dirty.
#pragma once

#include <optional>
#include <string>

#include "workloads/dragonfly/buffer_cache.hpp"
#include "workloads/dragonfly/dirty_buffers.hpp"
#include "workloads/dragonfly/disk.hpp"
#include "workloads/program/parameter_binder.hpp"
#include "workloads/program/workload.hpp"

namespace linebounce::workloads {

// Options of `hammer`: the four changes of January 2011, the number of CPUs in each role, and the time of each operation.
struct HammerOptions {
  bool lock_before_getblk = true;
  std::string flush_order = "list";
  std::string flush_groups = "uneven";
  std::string inodes_freed = "at_once";
  std::string lock = "ttas";

  int writers = 1;
  bool writing = true;
  double write_speed = 20;
  BufferCacheOptions cache;
  int blocks_per_file = 2;
  double growth_us = 0;
  double user_us = 8;
  double read_us = 2;
  double copy_us = 4;

  double create_us = 60;
  double create_locked_us = 40;
  std::int64_t inodes = 4000;
  std::int64_t uneven_inodes = 2000;
  std::int64_t even_inodes = 500;
  double sync_us = 75;
  int meta_per_file = 2;
  std::int64_t meta_buffers = 3200;
  int meta_extents = 8;
  DiskOptions disk;
  double series_us = 5000;

  [[nodiscard]] bool sorted() const { return flush_order == "sorted"; }
  [[nodiscard]] bool even() const { return flush_groups == "even"; }
  [[nodiscard]] bool freed_steadily() const { return inodes_freed == "steady"; }
  // A flush begins when this many inodes wait for one.
  [[nodiscard]] std::int64_t flush_at() const { return even() ? even_inodes : uneven_inodes; }

  void bind(ParameterBinder& parameters);
  void bind_changes(ParameterBinder& parameters);
  void bind_readers(ParameterBinder& parameters);
  void bind_writers(ParameterBinder& parameters);
  void bind_disk(ParameterBinder& parameters);
  // Errors: std::invalid_argument, with text for a user.
  void check(int cpus) const;
};

class HammerMount {
 public:
  HammerMount(const WorkloadSetup& setting, const HammerOptions& options);

  [[nodiscard]] MeteredLock& lock() const { return *lock_; }

  // For a writer: waits until another inode may become dirty, and takes one of these places.
  void take_inode(Cpu& cpu) const;
  // Puts the inode, with its data, into the open group. REQUIRES: the caller holds the lock.
  void add_inode(Cpu& cpu);

  // For the flusher: waits until a flush is due.
  void wait_for_flush(Cpu& cpu) const;
  // Returns how many groups it has to flush, and closes the open one unless groups are even. REQUIRES: the caller holds the
  // lock.
  [[nodiscard]] std::int64_t close_groups(Cpu& cpu);
  // The oldest group that is not flushed yet.
  [[nodiscard]] Address eldest_group(Cpu& cpu) const;
  void end_group(Cpu& cpu);

  [[nodiscard]] static std::int64_t inodes_of(Cpu& cpu, Address group);
  [[nodiscard]] static std::int64_t buffers_of(Cpu& cpu, Address group);
  // Marks a buffer of meta-data dirty. REQUIRES: number < meta_buffers.
  void add_meta(Cpu& cpu, Address group, std::uint64_t number);
  // Removes the group's next buffer, and returns its place on the disk; empty if no buffer is left.
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
  Address free_ = 0;     // how many more inodes may become dirty
  Address waiting_ = 0;  // inodes in groups whose flush has not begun
  Address state_ = 0;    // guarded by the lock
  Address groups_ = 0, ios_ = 0;
};

}  // namespace linebounce::workloads
