// The part of the dentry cache that processes share in /proc (Linux 2.6.0). Look-ups don't take dcache_lock. Dropping a last
// reference, creating and destroying dentries, and readdir do. Only for this question; linux24/dcache has the whole cache.
#pragma once

#include <string>
#include <vector>

#include "workloads/locks/lock_set.hpp"
#include "workloads/program/address_space.hpp"

namespace linebounce::workloads {

struct DcacheInstructions {
  std::int64_t walk = 0;     // of a path walk, for each component, in cycles
  std::int64_t lookup = 0;   // of __d_lookup(), for each dentry found, in cycles
  std::int64_t update = 0;   // inside each section under dcache_lock, in cycles
  std::int64_t process = 0;  // before each such section when a process ends or begins, in cycles
  std::int64_t entry = 0;    // of readdir, for each entry, outside the lock, in cycles
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
  // Ends the CPU's process and begins another: drops the old dentries and makes new ones.
  void replace_process(Cpu& cpu);
  // Reads the directory under its lock. Calls `sleep` once per pass, with the lock held.
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
  // Drops a reference. If it was the last one, returns true with dcache_lock held.
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
