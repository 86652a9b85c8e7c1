// The part of a dentry cache that processes share in /proc (Linux 2.6.0): look-ups without dcache_lock; last references, new
// and dying dentries and readdir with it. A model for one question; the whole cache is another workload.
#pragma once

#include <string>
#include <vector>

#include "workloads/locks/lock_set.hpp"
#include "workloads/program/address_space.hpp"

namespace linebounce::workloads {

struct DcacheInstructions {
  std::int64_t walk = 0;     // cycles of a path walk, for each component
  std::int64_t lookup = 0;   // cycles of __d_lookup(), for each dentry found
  std::int64_t update = 0;   // cycles in each section under dcache_lock
  std::int64_t process = 0;  // cycles before each section of a process that ends or begins
  std::int64_t entry = 0;    // cycles of readdir, for each entry, outside the lock
};

class ProcDirectory {
 public:
  struct Place {
    AddressSpace& memory;
    LockSet& locks;
    std::string dcache_lock;  // algorithms
    std::string d_lock;
    std::string directory_lock;
    int cpus = 1;
    int entries = 1;  // entries of the directory that is read
  };
  ProcDirectory(const Place& place, DcacheInstructions instructions);

  // Opens and closes a file of the CPU's own process: /proc/PID/stat.
  void open_and_close(Cpu& cpu);
  // The CPU's process ends, and another begins: its dentries are dropped and new ones made.
  void replace_process(Cpu& cpu);
  // Reads the directory under its lock, and may sleep meanwhile: `sleep` is called once.
  template <class Sleep>
  void read_directory(Cpu& cpu, Sleep sleep) {
    const FunctionScope scope(cpu, readdir_);
    do {
      directory_lock_->acquire_shared(cpu);
      list_entries(cpu);
      sleep();
    } while (!directory_lock_->release_shared(cpu));
  }

 private:
  struct Dentry {
    Address address = 0;
    MeteredLock* lock = nullptr;  // d_lock
  };
  Dentry place_dentry(const Place& place, const std::string& name, int users) const;
  [[nodiscard]] Dentry& own(std::vector<Dentry>& dentries, const Cpu& cpu) const { return dentries[cpu.id().value]; }

  void look_up(Cpu& cpu, const Dentry& dentry) const;
  void put(Cpu& cpu, const Dentry& dentry) const;
  // Drops a reference. Returns true, with dcache_lock held, if it was the last.
  bool was_last(Cpu& cpu, const Dentry& dentry) const;
  void update(Cpu& cpu, const Dentry& dentry, FunctionId function) const;
  void list_entries(Cpu& cpu) const;

  DcacheInstructions instructions_;
  MeteredLock* dcache_lock_ = nullptr;
  MeteredLock* directory_lock_ = nullptr;
  Address lru_ = 0;
  Dentry root_, proc_;
  std::vector<Dentry> processes_, files_;  // by CPU
  std::vector<Address> entries_;
  FunctionId walk_ = 0, lookup_ = 0, dput_ = 0, dec_and_lock_ = 0, alloc_ = 0, instantiate_ = 0, rehash_ = 0, drop_ = 0,
             process_ = 0, readdir_ = 0;
};

}  // namespace linebounce::workloads
