// The dentry cache of Linux 2.4.16 (fs/dcache.c, fs/namei.c), in simulated memory: what all designs share. What a design does
// otherwise is a virtual function; the defaults are 2.4.16's. See README.md.
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

// ---- what a path walk does that no memory operation here stands for; times vary ----

struct PathCosts {  // mean cycles
  std::int64_t component = 0;
  std::int64_t follow = 0;
};

// One CPU's.
class PathTimes {
 public:
  PathTimes(const PathCosts& costs, const Random& random) : costs_(costs), random_(random) {}

  // Permission, and the hash of the name.
  void before_lookup(Cpu& cpu) { compute_about(cpu, random_, costs_.component); }
  // Mounts and links, up to the dput of the directory before.
  void after_lookup(Cpu& cpu) { compute_about(cpu, random_, costs_.follow); }

 private:
  PathCosts costs_;
  Random random_;
};

// What is on the disk: the inode of a name in a directory, or 0. Each directory's names are asked for by one CPU.
class DiskDirectory {
 public:
  virtual ~DiskDirectory() = default;
  [[nodiscard]] virtual Address inode(const Name& name) const = 0;
};

struct DcacheSetup {
  AddressSpace& memory;
  LockSet& locks;
  const LayoutSet& layouts;
  std::string lock;                        // which algorithm
  bool locks_unused_only = false;          // under RCU, d_lookup takes the lock only for an entry without references
  bool locked_dput = false;                // dput takes dcache_lock also where other references stay
  std::int64_t metering_entry_cycles = 0;  // that lockmeter works before each acquisition
  std::int64_t metering_cycles = 0;        // that lockmeter works at the beginning of each hold
  int hash_bits = 0;                       // of the number of buckets
  int dentries = 0;                        // that there can be
  int cpus = 1;
  Interrupts* interrupts = nullptr;
  Rcu* rcu = nullptr;       // of designs that defer freeing
  double lru_timer_us = 0;  // of lazy_lru_timer
};

class Dcache {
 public:
  explicit Dcache(const DcacheSetup& setup, const std::string& dentry_structure);
  virtual ~Dcache() = default;
  Dcache(const Dcache&) = delete;
  Dcache& operator=(const Dcache&) = delete;

  // At the beginning of each CPU's program. / Between system calls.
  virtual void start(Cpu& cpu);
  void quiescent(Cpu& cpu);
  // For a FunctionScope around sleep().
  [[nodiscard]] FunctionId idle_function() const;

  // The entry of this name, with a reference; kNoDentry if it isn't there.
  virtual Address d_lookup(Cpu& cpu, Address parent, const Name& name);
  virtual void dput(Cpu& cpu, Address dentry);
  // REQUIRES: the caller has a reference.
  Address dget(Cpu& cpu, Address dentry);

  // With one reference, unhashed, negative. `parent` kNoDentry: a root.
  virtual Address d_alloc(Cpu& cpu, Address parent, const Name& name);
  // inode 0: it stays negative.
  virtual void d_instantiate(Cpu& cpu, Address dentry, Address inode);
  // Its file system wants it freed with the last reference, as that of sockets does.
  void set_delete(Cpu& cpu, Address dentry);
  virtual void d_rehash(Cpu& cpu, Address dentry);
  void d_add(Cpu& cpu, Address dentry, Address inode);
  // A directory that stays in use: the reference is kept.
  Address add_in_use(Cpu& cpu, Address parent, const Name& name, Address inode);
  // Its file is gone: it becomes negative, or is dropped if others use it.
  virtual void d_delete(Cpu& cpu, Address dentry);
  virtual void d_drop(Cpu& cpu, Address dentry);
  // `dentry` takes the place and name of `target`, which is dropped.
  virtual void d_move(Cpu& cpu, Address dentry, Address target);
  void shrink_dcache_parent(Cpu& cpu, Address parent);
  virtual int select_parent(Cpu& cpu, Address parent);
  virtual void prune_dcache(Cpu& cpu, int count);

  // From `start` along `components`, all of which are directories in the cache: the last one's entry, with a reference.
  virtual Address link_path_walk(Cpu& cpu, Address start, std::span<const Name> components, PathTimes& times);
  // d_lookup, else a new entry for what the directory has of this name.
  Address lookup_hash(Cpu& cpu, Address parent, const Name& name, const DiskDirectory& directory);
  // follow_dotdot: the parent, with a reference; that of `dentry` is given up.
  virtual Address follow_dotdot(Cpu& cpu, Address dentry);

  Address inode_of(Cpu& cpu, Address dentry) { return cpu.load(dentry + field_.d_inode, kWordBytes); }
  void iget(Cpu& cpu, Address inode) { cpu.fetch_add(inode + inode_.i_count, 1, kWordBytes); }
  void iput(Cpu& cpu, Address inode);

  // Errors: ModelFailure if a count, list or chain contradicts another. REQUIRES: nobody else works on the cache.
  void check(Cpu& cpu, Address root);

 protected:
  // ---- what a design may do otherwise ----

  // dcache_lock.
  virtual void lock(Cpu& cpu) { take(cpu, *lock_); }
  virtual void unlock(Cpu& cpu) { lock_->release(cpu); }
  // As a kernel does in which lockmeter is built.
  void take(Cpu& cpu, MeteredLock& lock) const {
    if (metering_entry_cycles_ > 0) cpu.compute(metering_entry_cycles_);
    lock.acquire(cpu);
    cpu.compute(metering_cycles_);
  }
  // What protects the LRU list, taken before everything else; it is dcache_lock itself unless a design has another lock for it.
  virtual void lock_lru(Cpu& cpu) { lock(cpu); }
  virtual void unlock_lru(Cpu& cpu) { unlock(cpu); }
  // With the LRU list's lock held: dcache_lock, too.
  virtual void lock_inside_lru(Cpu&) {}
  virtual void unlock_inside_lru(Cpu&) {}
  // find_and_get(): what protects the reference of an entry that was found, and the taking of it.
  virtual void lock_found(Cpu& cpu, Address /*dentry*/) { lock_lru(cpu); }
  virtual void unlock_found(Cpu& cpu, Address /*dentry*/) { unlock_lru(cpu); }
  virtual void get_found(Cpu& cpu, Address dentry) { get_unused(cpu, dentry); }
  // An unused entry is about to go, dcache_lock held: false if it has become used again.
  virtual bool condemn(Cpu&, Address /*dentry*/) { return true; }
  // Of an entry on the LRU list: whether it is in use and only waits to be taken off.
  virtual bool in_use_on_lru(Cpu&, Address /*dentry*/) { return false; }

  // ---- what designs are made of ----

  // The chain in which an entry of this name hangs.
  [[nodiscard]] Address bucket(Address parent, const Name& name) const;
  [[nodiscard]] bool is_bucket(Address entry) const { return entry >= table_ && entry < table_end_; }
  // Along the chain, whether dcache_lock is held or not; kNoDentry if it isn't there.
  Address find(Cpu& cpu, Address parent, const Name& name);
  // What find() found, once it can't go any more: whether it is still hashed under this name.
  bool still_is(Cpu& cpu, Address dentry, Address parent, const Name& name);
  // d_lookup with find() under RCU, and a lock for the reference alone.
  Address find_and_get(Cpu& cpu, Address parent, const Name& name);
  // A reference without a lock, if the entry has others already and is still what was looked for.
  bool get_used(Cpu& cpu, Address dentry, Address parent, const Name& name);
  bool matches(Cpu& cpu, Address dentry, Address parent, const Name& name);
  // dcache_lock or the LRU list's is held: a reference, and off the LRU list with who had none.
  void get_unused(Cpu& cpu, Address dentry);
  void mark_referenced(Cpu& cpu, Address dentry);
  // One reference less; true, and dcache_lock held, if that was the last one.
  bool decrement_and_lock(Cpu& cpu, Address dentry);
  // The last reference is gone, the locks of LRU list and cache are held: to the LRU list, or freed. Releases the locks.
  // Returns the parent if it has lost a reference by that.
  Address retire(Cpu& cpu, Address dentry);
  void add_unused(Cpu& cpu, Address dentry);
  void remove_unused(Cpu& cpu, Address dentry);
  bool unhashed(Cpu& cpu, Address dentry);
  void unhash(Cpu& cpu, Address dentry);
  // Unhashes and frees; both locks are held, and released. Returns the parent, whose reference goes with it.
  Address kill(Cpu& cpu, Address dentry);
  bool dies_unused(Cpu& cpu, Address dentry);
  // What d_move does under its lock.
  void exchange_places(Cpu& cpu, Address dentry, Address target);
  // A new entry that is in no list yet; it has no reference of its parent.
  Address create(Cpu& cpu, Address parent, const Name& name);
  // What protects the inode's entries is held. Returns the inode that the caller is to put when it has released the lock, or 0.
  Address detach_inode(Cpu& cpu, Address dentry);
  void release(Cpu& cpu, Address dentry);  // d_free
  void unlock_both(Cpu& cpu);
  void pass(Cpu& cpu, Address dentry, PathTimes& times);
  // Every entry that can be, by number; and the number of one.
  [[nodiscard]] const std::vector<Address>& objects() const { return slab_->objects(); }
  [[nodiscard]] std::size_t number_of(Address dentry) const { return slab_->number_of(dentry); }
  // What a hash chain or a reference has led to is no freed entry. Errors: ModelFailure.
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
  Address rcu_head_ = 0;  // offset; of designs that defer freeing
};

}  // namespace linebounce::workloads
