// What `hammer` is told: the four changes of January 2011, how many CPUs do what, and how long each thing takes.
#pragma once

#include <string>

#include "workloads/dragonfly/buffer_cache.hpp"
#include "workloads/dragonfly/disk.hpp"
#include "workloads/program/parameter_binder.hpp"

namespace linebounce::workloads {

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
  // Of the inodes: a flush begins when so many wait for one.
  [[nodiscard]] std::int64_t flush_at() const { return even() ? even_inodes : uneven_inodes; }

  void bind(ParameterBinder& parameters);
  void bind_changes(ParameterBinder& parameters);
  void bind_readers(ParameterBinder& parameters);
  void bind_writers(ParameterBinder& parameters);
  void bind_disk(ParameterBinder& parameters);
  // Errors: std::invalid_argument, with text for a user.
  void check(int cpus) const;
};

}  // namespace linebounce::workloads
