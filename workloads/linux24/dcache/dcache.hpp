// The dentry cache of Linux 2.4.16 (fs/dcache.c, fs/namei.c) in simulated memory, as far as all designs share it. Virtual
// functions are what a design may do differently; the defaults are 2.4.16's. See README.md.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "workloads/linux24/dcache/dentry_slab.hpp"
#include "workloads/locks/lock_set.hpp"
#include "workloads/program/interrupts.hpp"
#include "workloads/program/list.hpp"
#include "workloads/program/times.hpp"
#include "workloads/rcu/rcu.hpp"

namespace linebounce::workloads {

// ---- parts of a path walk that are modelled as time only, with random variation ----

struct PathCosts {  // mean cycles
  std::int64_t component = 0;
  std::int64_t follow = 0;
};

// One CPU's random times.
class PathTimes {
 public:
  PathTimes(const PathCosts& costs, const Random& random) : costs_(costs), random_(random) {}

  // The permission check and the hash of the name.
  void before_lookup(Cpu& cpu) { compute_about(cpu, random_, costs_.component); }
  // Mounts and links, up to the dput of the previous directory.
  void after_lookup(Cpu& cpu) { compute_about(cpu, random_, costs_.follow); }

 private:
  PathCosts costs_;
  Random random_;
};

// The disk: returns the inode of a name in a directory, or 0. Only one CPU looks up names in each directory.
class DiskDirectory {
 public:
  virtual ~DiskDirectory() = default;
  [[nodiscard]] virtual Address inode(const Name& name) const = 0;
};

struct DcacheSetup {
  AddressSpace& memory;
  LockSet& locks;
  const LayoutSet& layouts;
  std::string lock;                        // the algorithm of dcache_lock
  bool locks_unused_only = false;          // under RCU, d_lookup takes the lock only for an entry without references
  bool locked_dput = false;                // dput takes dcache_lock even if other references stay
  std::int64_t metering_entry_cycles = 0;  // cycles that lockmeter works before each acquisition
  std::int64_t metering_cycles = 0;        // cycles that lockmeter works at the beginning of each hold
  int hash_bits = 0;                       // logarithm of the number of buckets
  int dentries = 0;                        // the maximum number
  int cpus = 1;
  Interrupts* interrupts = nullptr;
  Rcu* rcu = nullptr;       // required by designs that defer freeing
  double lru_timer_us = 0;  // used by lazy_lru_timer
};

class Dcache {
 public:
  explicit Dcache(const DcacheSetup& setup, const std::string& dentry_structure);
  virtual ~Dcache() = default;
  Dcache(const Dcache&) = delete;
  Dcache& operator=(const Dcache&) = delete;

  // Called at the beginning of each CPU's program.
  virtual void start(Cpu& cpu);
  // Called between system calls.
  void quiescent(Cpu& cpu);
  // The function to name in a FunctionScope around sleep().
  [[nodiscard]] FunctionId idle_function() const;

  // The entry of this name, with a reference; kNoDentry if the cache has none.
  virtual Address d_lookup(Cpu& cpu, Address parent, const Name& name);
  virtual void dput(Cpu& cpu, Address dentry);
  // REQUIRES: the caller has a reference.
  Address dget(Cpu& cpu, Address dentry);

  // A new entry with one reference, unhashed and negative. A `parent` of kNoDentry makes a root.
  virtual Address d_alloc(Cpu& cpu, Address parent, const Name& name);
  // With inode 0 the entry stays negative.
  virtual void d_instantiate(Cpu& cpu, Address dentry, Address inode);
  // Marks an entry that its file system frees with the last reference, as for sockets.
  void set_delete(Cpu& cpu, Address dentry);
  virtual void d_rehash(Cpu& cpu, Address dentry);
  void d_add(Cpu& cpu, Address dentry, Address inode);
  // Adds a directory that stays in use: its reference is kept.
  Address add_in_use(Cpu& cpu, Address parent, const Name& name, Address inode);
  // The entry's file is gone: the entry becomes negative, or is dropped if others use it.
  virtual void d_delete(Cpu& cpu, Address dentry);
  virtual void d_drop(Cpu& cpu, Address dentry);
  // `dentry` takes the place and name of `target`, which is dropped.
  virtual void d_move(Cpu& cpu, Address dentry, Address target);
  void shrink_dcache_parent(Cpu& cpu, Address parent);
  virtual int select_parent(Cpu& cpu, Address parent);
  virtual void prune_dcache(Cpu& cpu, int count);

  // Walks from `start` along `components`, all of which are directories in the cache. Returns the last one's entry, with a
  // reference.
  virtual Address link_path_walk(Cpu& cpu, Address start, std::span<const Name> components, PathTimes& times);
  // d_lookup, or a new entry for what the directory has under this name.
  Address lookup_hash(Cpu& cpu, Address parent, const Name& name, const DiskDirectory& directory);
  // follow_dotdot: returns the parent with a reference, and drops the reference to `dentry`.
  virtual Address follow_dotdot(Cpu& cpu, Address dentry);

  Address inode_of(Cpu& cpu, Address dentry) { return cpu.load(dentry + field_.d_inode, kWordBytes); }
  void iget(Cpu& cpu, Address inode) { cpu.fetch_add(inode + inode_.i_count, 1, kWordBytes); }
  void iput(Cpu& cpu, Address inode);

  // Errors: ModelFailure if a count, list or chain contradicts another. REQUIRES: no other CPU uses the cache.
  void check(Cpu& cpu, Address root);

 protected:
  // ---- what a design may do differently ----

  // dcache_lock.
  virtual void lock(Cpu& cpu) { take(cpu, *lock_); }
  virtual void unlock(Cpu& cpu) { lock_->release(cpu); }
  // Acquires the lock as a kernel does that has lockmeter built in.
  void take(Cpu& cpu, MeteredLock& lock) const {
    if (metering_entry_cycles_ > 0) cpu.compute(metering_entry_cycles_);
    lock.acquire(cpu);
    cpu.compute(metering_cycles_);
  }
  // Takes the lock of the LRU list, which comes before all others. It is dcache_lock unless the design has a separate lock.
  virtual void lock_lru(Cpu& cpu) { lock(cpu); }
  virtual void unlock_lru(Cpu& cpu) { unlock(cpu); }
  // Takes dcache_lock while the LRU list's lock is held.
  virtual void lock_inside_lru(Cpu&) {}
  virtual void unlock_inside_lru(Cpu&) {}
  // For find_and_get(): takes the lock that protects the reference of a found entry while the reference is taken.
  virtual void lock_found(Cpu& cpu, Address /*dentry*/) { lock_lru(cpu); }
  virtual void unlock_found(Cpu& cpu, Address /*dentry*/) { unlock_lru(cpu); }
  virtual void get_found(Cpu& cpu, Address dentry) { get_unused(cpu, dentry); }
  // Called when an unused entry is about to be freed, with dcache_lock held. Returns false if it has become used again.
  virtual bool condemn(Cpu&, Address /*dentry*/) { return true; }
  // Whether an entry on the LRU list is in use and only waits to be removed from it.
  virtual bool in_use_on_lru(Cpu&, Address /*dentry*/) { return false; }

  // ---- the parts of designs ----

  // The chain for entries of this name.
  [[nodiscard]] Address bucket(Address parent, const Name& name) const;
  [[nodiscard]] bool is_bucket(Address entry) const { return entry >= table_ && entry < table_end_; }
  // Searches the chain, with or without dcache_lock; kNoDentry if the name isn't there.
  Address find(Cpu& cpu, Address parent, const Name& name);
  // Whether an entry returned by find() is still hashed under this name, checked once it can't be freed any more.
  bool still_is(Cpu& cpu, Address dentry, Address parent, const Name& name);
  // d_lookup that runs find() under RCU and takes a lock only for the reference.
  Address find_and_get(Cpu& cpu, Address parent, const Name& name);
  // Takes a reference without a lock, if the entry has others already and is still the right one.
  bool get_used(Cpu& cpu, Address dentry, Address parent, const Name& name);
  bool matches(Cpu& cpu, Address dentry, Address parent, const Name& name);
  // Takes a reference, and removes the entry from the LRU list if it had none. REQUIRES: dcache_lock or the LRU list's lock is
  // held.
  void get_unused(Cpu& cpu, Address dentry);
  void mark_referenced(Cpu& cpu, Address dentry);
  // Drops a reference. Returns true, with dcache_lock held, if that was the last one.
  bool decrement_and_lock(Cpu& cpu, Address dentry);
  // Puts an entry without references on the LRU list, or frees it. REQUIRES: the locks of LRU list and cache are held; releases
  // them. Returns the parent if it has lost a reference by that.
  Address retire(Cpu& cpu, Address dentry);
  void add_unused(Cpu& cpu, Address dentry);
  void remove_unused(Cpu& cpu, Address dentry);
  bool unhashed(Cpu& cpu, Address dentry);
  void unhash(Cpu& cpu, Address dentry);
  // Unhashes and frees the entry. REQUIRES: both locks are held; releases them. Returns the parent, whose reference the caller
  // must drop.
  Address kill(Cpu& cpu, Address dentry);
  bool dies_unused(Cpu& cpu, Address dentry);
  // The part of d_move under its lock.
  void exchange_places(Cpu& cpu, Address dentry, Address target);
  // A new entry that is in no list yet, without a reference to its parent.
  Address create(Cpu& cpu, Address parent, const Name& name);
  // REQUIRES: the lock that protects the inode's entries is held. Returns the inode that the caller must put after releasing
  // that lock, or 0.
  Address detach_inode(Cpu& cpu, Address dentry);
  void release(Cpu& cpu, Address dentry);  // d_free
  void unlock_both(Cpu& cpu);
  void pass(Cpu& cpu, Address dentry, PathTimes& times);
  // All possible entries, by number; and the number of one.
  [[nodiscard]] const std::vector<Address>& objects() const { return slab_->objects(); }
  [[nodiscard]] std::size_t number_of(Address dentry) const { return slab_->number_of(dentry); }
  // Checks that a word loaded from a hash chain or reference is not a freed entry's. Errors: ModelFailure.
  static Value checked(Value word);

  struct Functions {
    FunctionId d_lookup, dput, d_alloc, d_instantiate, d_rehash, d_delete, d_unhash, d_move, prune_dcache, select_parent,
        link_path_walk, real_lookup, idle, d_delete_again, prune_dcache_again;
  };

  DentryFields field_;
  InodeFields inode_;
  Functions function_;
  MeteredLock* lock_;
  bool locked_dput_;
  bool locks_unused_only_;
  std::int64_t metering_entry_cycles_;
  std::int64_t metering_cycles_;
  Rcu* rcu_;
  Address lru_ = 0;        // dentry_unused
  Address nr_unused_ = 0;  // dentry_stat.nr_unused

 private:
  friend class DcacheCheck;
  void free_now(Cpu& cpu, Address dentry);
  void initialise(Cpu& cpu, Address dentry, Address parent, const Name& name);

  std::unique_ptr<DentrySlab> slab_;
  Address table_ = 0, table_end_ = 0;
  int hash_bits_;
  Address mount_ = 0;     // vfsmount.mnt_count
  Address rcu_head_ = 0;  // the offset; for designs that defer freeing
};

}  // namespace linebounce::workloads
