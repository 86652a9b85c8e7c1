// d_lookup neither takes dcache_lock nor removes an entry from the LRU list. Each entry has its own lock, which keeps the entry
// from being freed while a reference is taken. Pruning removes entries that are in use from the list (OLS 2002, section 5).
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

  // The entry's d_lock.
  [[nodiscard]] MeteredLock& lock_of(Address dentry) const;

 private:
  std::vector<MeteredLock*> locks_;  // each entry's lock, by the entry's number
};

}  // namespace linebounce::workloads
