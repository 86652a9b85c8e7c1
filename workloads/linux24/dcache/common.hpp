// What all dentry-cache loads share: parameters, the cache, path costs and file data.
#pragma once

#include <memory>

#include "workloads/linux24/dcache/designs.hpp"
#include "workloads/program/parameter_binder.hpp"
#include "workloads/program/workload.hpp"

namespace linebounce::workloads {

// The design, its lock and layout, the cache's size, and what each component of a path costs.
struct DcacheOptions {
  std::string design = "global_lock";
  double metering_entry_us = 0;
  bool locks_unused_only = false;
  bool locked_dput = false;
  std::string lock = "ttas";
  std::string layout = "linux_2_4_16";  // a name in WorkloadSetup::layouts
  int hash_bits = 18;
  int dentries = 0;  // number of dentries; each load sets its own default
  double tick_us = 10000;
  double lru_timer_us = 20000;
  double metering_us = 0.08;
  double component_us = 1;
  double follow_us = 0.4;

  void bind(ParameterBinder& parameters);
};

// A directory on disk that contains a single name.
class OneFile final : public DiskDirectory {
 public:
  explicit OneFile(Address inode) : inode_(inode) {}
  [[nodiscard]] Address inode(const Name&) const override { return inode_; }

 private:
  Address inode_;
};

// Builds the cache that the options describe. Errors: std::invalid_argument.
struct DcacheParts {
  std::unique_ptr<Interrupts> interrupts;
  std::unique_ptr<Rcu> rcu;  // null for designs that don't need it
  std::unique_ptr<Dcache> dcache;
  PathCosts costs;
};
DcacheParts make_dcache_parts(const DcacheOptions& options, const WorkloadSetup& setting);

// Places an inode without dentries, named NAME[number].
Address place_inode(const WorkloadSetup& setting, const std::string& name, std::uint64_t number);

// File data that passes through a CPU's caches and evicts other lines. Reads a ring buffer, twice as large as the outermost
// cache, line by line.
class FileData {
 public:
  FileData(const WorkloadSetup& setting, const std::string& name)
      : line_(static_cast<Address>(setting.memory.line_bytes())),
        bytes_(static_cast<Address>(setting.machine.caches.back().size_kib) * 2 * 1024),
        begin_(setting.memory.place_array(name, static_cast<std::int64_t>(bytes_))) {}

  // `cpu`: the owner of the buffer.
  void read(Cpu& cpu, std::int64_t lines) {
    for (std::int64_t i = 0; i < lines; ++i) {
      cpu.load(begin_ + offset_);
      offset_ = (offset_ + line_) % bytes_;
    }
  }

 private:
  Address line_;
  Address bytes_;
  Address begin_;
  Address offset_ = 0;
};

}  // namespace linebounce::workloads
