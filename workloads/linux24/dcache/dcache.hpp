// The dentry cache of Linux 2.4.16 (fs/dcache.c, fs/namei.c) in simulated memory: the part that all designs share. A design
// overrides virtual functions; the defaults are 2.4.16's. See README.md.
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

  // Before the look-up: checks the permission and hashes the name.
  void before_lookup(Cpu& cpu) { compute_about(cpu, random_, costs_.component); }
  // After the look-up: follows mounts and links, up to the dput of the previous directory.
  void after_lookup(Cpu& cpu) { compute_about(cpu, random_, costs_.follow); }

 private:
  PathCosts costs_;
  Random random_;
};

// Stands for the disk: returns the inode of a name in a directory, or 0. Only one CPU looks up names in a given directory.
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
  bool locked_dput = false;                // dput takes dcache_lock even if it does not drop the last reference
  std::int64_t metering_entry_cycles = 0;  // lockmeter's work before each acquisition, in cycles
  std::int64_t metering_cycles = 0;        // lockmeter's work at the start of each hold, in cycles
  int hash_bits = 0;                       // log2 of the number of hash buckets
  int dentries = 0;                        // the maximum number
  int cpus = 1;
  Interrupts* interrupts = nullptr;
  Rcu* rcu = nullptr;       // required by designs that free entries after a grace period
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
  // The function to use in a FunctionScope around sleep(), so that sleeping counts as idle.
  [[nodiscard]] FunctionId idle_function() const;

  // Returns the entry of this name, with a reference for the caller; kNoDentry if it is not cached.
  virtual Address d_lookup(Cpu& cpu, Address parent, const Name& name);
  virtual void dput(Cpu& cpu, Address dentry);
  // Takes another reference. REQUIRES: the caller already has one.
  Address dget(Cpu& cpu, Address dentry);

  // Allocates an entry with one reference, unhashed and negative. If `parent` is kNoDentry, the entry is a root.
  virtual Address d_alloc(Cpu& cpu, Address parent, const Name& name);
  // Gives the entry an inode; with inode 0 it stays negative.
  virtual void d_instantiate(Cpu& cpu, Address dentry, Address inode);
  // Marks an entry that must be freed when its last reference is dropped, as sockets' entries are.
  void set_delete(Cpu& cpu, Address dentry);
  virtual void d_rehash(Cpu& cpu, Address dentry);
  void d_add(Cpu& cpu, Address dentry, Address inode);
  // Adds a directory that stays in use, because its reference is never dropped.
  Address add_in_use(Cpu& cpu, Address parent, const Name& name, Address inode);
  // The entry's file was deleted: the entry becomes negative or, if it has other users, is unhashed.
  virtual void d_delete(Cpu& cpu, Address dentry);
  virtual void d_drop(Cpu& cpu, Address dentry);
  // Gives `dentry` the place and name of `target`, and unhashes `target`.
  virtual void d_move(Cpu& cpu, Address dentry, Address target);
  void shrink_dcache_parent(Cpu& cpu, Address parent);
  virtual int select_parent(Cpu& cpu, Address parent);
  virtual void prune_dcache(Cpu& cpu, int count);

  // Walks from `start` along `components`, all of which are directories in the cache. Returns the last one's entry, with a
  // reference.
  virtual Address link_path_walk(Cpu& cpu, Address start, std::span<const Name> components, PathTimes& times);
  // d_lookup; if the name is not cached, allocates an entry with the inode that `directory` has for it.
  Address lookup_hash(Cpu& cpu, Address parent, const Name& name, const DiskDirectory& directory);
  // follow_dotdot: returns the parent with a reference, and drops the reference to `dentry`.
  virtual Address follow_dotdot(Cpu& cpu, Address dentry);

  Address inode_of(Cpu& cpu, Address dentry) { return cpu.load(dentry + field_.d_inode, kWordBytes); }
  void iget(Cpu& cpu, Address inode) { cpu.fetch_add(inode + inode_.i_count, 1, kWordBytes); }
  void iput(Cpu& cpu, Address inode);

  // Checks the whole cache. Errors: ModelFailure if a count, list or chain contradicts another. REQUIRES: no other CPU uses the
  // cache.
  void check(Cpu& cpu, Address root);

 protected:
  // ---- what a design may override ----

  // dcache_lock.
  virtual void lock(Cpu& cpu) { take(cpu, *lock_); }
  virtual void unlock(Cpu& cpu) { lock_->release(cpu); }
  // Acquires the lock with lockmeter's overhead.
  void take(Cpu& cpu, MeteredLock& lock) const {
    if (metering_entry_cycles_ > 0) cpu.compute(metering_entry_cycles_);
    lock.acquire(cpu);
    cpu.compute(metering_cycles_);
  }
  // Takes the LRU list's lock, always before any other lock. It is dcache_lock itself unless the design has a separate LRU
  // lock.
  virtual void lock_lru(Cpu& cpu) { lock(cpu); }
  virtual void unlock_lru(Cpu& cpu) { unlock(cpu); }
  // For designs with a separate LRU lock: takes dcache_lock while the LRU lock is held. Otherwise does nothing.
  virtual void lock_inside_lru(Cpu&) {}
  virtual void unlock_inside_lru(Cpu&) {}
  // For find_and_get(): takes the lock under which a found entry's reference is taken.
  virtual void lock_found(Cpu& cpu, Address /*dentry*/) { lock_lru(cpu); }
  virtual void unlock_found(Cpu& cpu, Address /*dentry*/) { unlock_lru(cpu); }
  virtual void get_found(Cpu& cpu, Address dentry) { get_unused(cpu, dentry); }
  // Called with dcache_lock held before an unused entry is freed. Returns false if the entry is in use again.
  virtual bool condemn(Cpu&, Address /*dentry*/) { return true; }
  // Whether an entry on the LRU list is in use. Designs that leave used entries on the list remove them when they prune.
  virtual bool in_use_on_lru(Cpu&, Address /*dentry*/) { return false; }

  // ---- building blocks for designs ----

  // The hash chain that entries of this name are on.
  [[nodiscard]] Address bucket(Address parent, const Name& name) const;
  [[nodiscard]] bool is_bucket(Address entry) const { return entry >= table_ && entry < table_end_; }
  // Searches the hash chain; the caller may hold dcache_lock or not. Returns kNoDentry if the name isn't there.
  Address find(Cpu& cpu, Address parent, const Name& name);
  // Whether an entry that find() returned is still hashed under this name. Called once the entry can no longer be freed.
  bool still_is(Cpu& cpu, Address dentry, Address parent, const Name& name);
  // d_lookup for designs with RCU: runs find() without a lock, and takes a lock only for the reference.
  Address find_and_get(Cpu& cpu, Address parent, const Name& name);
  // Takes a reference without a lock if the entry has other references and still has this name. Otherwise returns false.
  bool get_used(Cpu& cpu, Address dentry, Address parent, const Name& name);
  bool matches(Cpu& cpu, Address dentry, Address parent, const Name& name);
  // Takes a reference, and removes the entry from the LRU list if it had none. REQUIRES: dcache_lock or the LRU list's lock is
  // held.
  void get_unused(Cpu& cpu, Address dentry);
  void mark_referenced(Cpu& cpu, Address dentry);
  // Drops a reference. Returns true, with dcache_lock held, if that was the last one.
  bool decrement_and_lock(Cpu& cpu, Address dentry);
  // Puts an entry without references on the LRU list, or frees it. REQUIRES: dcache_lock and the LRU list's lock are held;
  // releases both. Returns the parent if freeing the entry drops a reference to it.
  Address retire(Cpu& cpu, Address dentry);
  void add_unused(Cpu& cpu, Address dentry);
  void remove_unused(Cpu& cpu, Address dentry);
  bool unhashed(Cpu& cpu, Address dentry);
  void unhash(Cpu& cpu, Address dentry);
  // Unhashes and frees the entry. REQUIRES: dcache_lock and the LRU list's lock are held; releases both. Returns the parent,
  // whose reference the caller must drop.
  Address kill(Cpu& cpu, Address dentry);
  bool dies_unused(Cpu& cpu, Address dentry);
  // The part of d_move under its lock.
  void exchange_places(Cpu& cpu, Address dentry, Address target);
  // Allocates an entry that is on no list and holds no reference to its parent.
  Address create(Cpu& cpu, Address parent, const Name& name);
  // Detaches the entry from its inode. Returns the inode, or 0; the caller must iput() it after releasing the lock. REQUIRES:
  // the lock that protects the inode's list of entries is held.
  Address detach_inode(Cpu& cpu, Address dentry);
  void release(Cpu& cpu, Address dentry);  // d_free
  void unlock_both(Cpu& cpu);
  void pass(Cpu& cpu, Address dentry, PathTimes& times);
  // objects(): every entry that can exist, by number. number_of(): the number of one entry.
  [[nodiscard]] const std::vector<Address>& objects() const { return slab_->objects(); }
  [[nodiscard]] std::size_t number_of(Address dentry) const { return slab_->number_of(dentry); }
  // Returns `word`, loaded from a hash chain or a reference. Errors: ModelFailure if the word is a freed entry's poison.
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
  Address rcu_head_ = 0;  // offset of RCU's head in an entry; used by designs that free entries after a grace period
};

}  // namespace linebounce::workloads
