// What if updates of the dentry cache ran in parallel (OLS 2004, section 5.1)? These locks replace dcache_lock:
//   d_lock of an entry    its count at 0 and 1, name, parent, flags and, for a directory, the list of its children
//   a lock of a chain     the hash chain; taken inside d_lock
//   d_lru_lock            the list of unused entries; taken inside d_lock
//   a lock of an inode    the list of its entries
//
// dcache_lock remains for d_move and select_parent. Only these hold several d_locks at a time, so they may take them in any
// order.
#pragma once

#include <vector>

#include "workloads/linux24/dcache/lazy_lru.hpp"

namespace linebounce::workloads {

class ParallelUpdates : public LazyLru {
 public:
  explicit ParallelUpdates(const DcacheSetup& setup, const std::string& dentry_structure = "dentry_rcu");

  void dput(Cpu& cpu, Address dentry) override;
  Address d_alloc(Cpu& cpu, Address parent, const Name& name) override;
  void d_instantiate(Cpu& cpu, Address dentry, Address inode) override;
  void d_rehash(Cpu& cpu, Address dentry) override;
  void d_delete(Cpu& cpu, Address dentry) override;
  void d_drop(Cpu& cpu, Address dentry) override;
  void d_move(Cpu& cpu, Address dentry, Address target) override;
  int select_parent(Cpu& cpu, Address parent) override;
  void prune_dcache(Cpu& cpu, int count) override;
  Address follow_dotdot(Cpu& cpu, Address dentry) override;

 protected:
  // Called before and after an entry's name, parent or chain changes. REQUIRES: the entry's d_lock is held.
  virtual void begin_change(Cpu&, Address /*dentry*/) {}
  virtual void end_change(Cpu&, Address /*dentry*/) {}

  void lock_lru(Cpu& cpu) override { take(cpu, *lru_lock_); }
  void unlock_lru(Cpu& cpu) override { lru_lock_->release(cpu); }

 private:
  Address chain_of(Cpu& cpu, Address dentry);
  [[nodiscard]] MeteredLock& lock_of_chain(Address head) const;
  [[nodiscard]] MeteredLock& lock_of_inode(Address inode) const;
  // Drops a reference. Returns true, with d_lock held, if that was the last one.
  bool decrement_and_lock_own(Cpu& cpu, Address dentry);
  // Makes the entry unreachable and releases its d_lock. Returns the parent, whose reference the caller must drop. REQUIRES:
  // d_lock is held.
  Address condemned(Cpu& cpu, Address dentry);
  void to_lru(Cpu& cpu, Address dentry);
  void off_lru(Cpu& cpu, Address dentry);
  bool to_lru_end(Cpu& cpu, Address dentry);
  void leave_chain(Cpu& cpu, Address dentry);
  int select_children(Cpu& cpu, Address directory);
  void leave_inode(Cpu& cpu, Address dentry);

  MeteredLock* lru_lock_;
  std::vector<MeteredLock*> chain_locks_;
  std::vector<MeteredLock*> inode_locks_;
};

}  // namespace linebounce::workloads
