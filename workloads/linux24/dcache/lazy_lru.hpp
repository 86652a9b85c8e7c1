// d_lookup takes neither dcache_lock nor an entry off the LRU list: a lock in each entry guards its count against being freed,
// and entries in use leave the list when pruning comes by (OLS 2002, section 5).
#pragma once

#include <vector>

#include "workloads/linux24/dcache/dcache.hpp"

namespace linebounce::workloads {

class LazyLru : public Dcache {
 public:
  explicit LazyLru(const DcacheSetup& setup, const std::string& dentry_structure = "dentry_rcu");

  Address d_lookup(Cpu& cpu, Address parent, const Name& name) override { return find_and_get(cpu, parent, name); }
  void dput(Cpu& cpu, Address dentry) override;

 protected:
  void lock_found(Cpu& cpu, Address dentry) override { lock_of(dentry).acquire(cpu); }
  void unlock_found(Cpu& cpu, Address dentry) override { lock_of(dentry).release(cpu); }
  void get_found(Cpu& cpu, Address dentry) override { dget(cpu, dentry); }
  bool condemn(Cpu& cpu, Address dentry) override;
  bool in_use_on_lru(Cpu& cpu, Address dentry) override;

  // d_lock of an entry.
  [[nodiscard]] MeteredLock& lock_of(Address dentry) const;

 private:
  std::vector<MeteredLock*> locks_;  // by number of the entry
};

}  // namespace linebounce::workloads
