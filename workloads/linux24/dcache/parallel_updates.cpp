#include "workloads/linux24/dcache/parallel_updates.hpp"

#include <algorithm>

#include "models/failure.hpp"
#include "workloads/linux24/dcache/designs.hpp"

namespace linebounce::workloads {
namespace {

// Value of d_count for an entry that is being freed: no CPU can take a reference. CPUs may still read the entry until a grace
// period ends.
constexpr Value kDead = 0x80000000;
// The fixed set of locks that hash chains and inodes share. A chain's or inode's number chooses its lock, so their structures
// need no lock word.
constexpr std::size_t kChainLocks = 1024, kInodeLocks = 64;
constexpr Address kInodeAlignment = 32;

}  // namespace

ParallelUpdates::ParallelUpdates(const DcacheSetup& setup, const std::string& dentry_structure)
    : LazyLru(setup, dentry_structure), lru_lock_(&setup.locks.create(setup.lock, "d_lru_lock")) {
  const std::size_t chains = std::min(kChainLocks, std::size_t{1} << setup.hash_bits);
  for (std::size_t i = 0; i < chains; ++i) chain_locks_.push_back(&setup.locks.create(setup.lock, "d_hash_lock"));
  for (std::size_t i = 0; i < kInodeLocks; ++i) inode_locks_.push_back(&setup.locks.create(setup.lock, "i_lock"));
}

Address ParallelUpdates::chain_of(Cpu& cpu, Address dentry) {
  const Address parent = cpu.load(dentry + field_.d_parent, kWordBytes);
  const Value hash = cpu.load(dentry + field_.name_hash, kWordBytes);
  return bucket(parent, {.hash = hash});
}

MeteredLock& ParallelUpdates::lock_of_chain(Address head) const {
  return *chain_locks_[head / (2 * list::kPointerBytes) % chain_locks_.size()];
}

MeteredLock& ParallelUpdates::lock_of_inode(Address inode) const {
  return *inode_locks_[inode / kInodeAlignment % inode_locks_.size()];
}

// ---- references ----

bool ParallelUpdates::decrement_and_lock_own(Cpu& cpu, Address dentry) {
  const Address count = dentry + field_.d_count;
  while (!locked_dput_) {
    const Value references = checked(cpu.load(count, kWordBytes));
    if (references <= 1 || references >= kDead) break;
    if (cpu.compare_exchange(count, references, references - 1, kWordBytes) == references) return false;
  }
  MeteredLock& own = lock_of(dentry);
  take(cpu, own);
  const Value before = checked(cpu.fetch_add(count, kMinusOne, kWordBytes));
  if (before == 0 || before >= kDead) throw ModelFailure("an entry has lost a reference that it didn't have");
  if (before == 1) return true;
  own.release(cpu);
  return false;
}

void ParallelUpdates::dput(Cpu& cpu, Address dentry) {
  const FunctionScope scope(cpu, function_.dput);
  while (dentry != kNoDentry && decrement_and_lock_own(cpu, dentry)) {
    if (dies_unused(cpu, dentry)) {
      dentry = condemned(cpu, dentry);
    } else {
      to_lru(cpu, dentry);
      lock_of(dentry).release(cpu);
      dentry = kNoDentry;
    }
  }
}

// From here on no CPU can find the entry, and only this CPU writes to it. The entry's reference keeps its parent alive.
Address ParallelUpdates::condemned(Cpu& cpu, Address dentry) {
  cpu.store(dentry + field_.d_count, kDead, kWordBytes);
  off_lru(cpu, dentry);
  leave_chain(cpu, dentry);
  const Address parent = cpu.load(dentry + field_.d_parent, kWordBytes);
  lock_of(dentry).release(cpu);
  leave_inode(cpu, dentry);
  MeteredLock& directory = lock_of(parent);
  take(cpu, directory);
  list::remove(cpu, dentry + field_.d_child);
  directory.release(cpu);
  release(cpu, dentry);
  return parent;
}

// ---- LRU list: adding an entry needs its d_lock; removing one does not ----

void ParallelUpdates::to_lru(Cpu& cpu, Address dentry) {
  if (!list::empty(cpu, dentry + field_.d_lru)) return;
  lock_lru(cpu);
  add_unused(cpu, dentry);
  unlock_lru(cpu);
}

void ParallelUpdates::off_lru(Cpu& cpu, Address dentry) {
  if (list::empty(cpu, dentry + field_.d_lru)) return;
  lock_lru(cpu);
  if (!list::empty(cpu, dentry + field_.d_lru)) remove_unused(cpu, dentry);
  unlock_lru(cpu);
}

bool ParallelUpdates::to_lru_end(Cpu& cpu, Address dentry) {
  lock_lru(cpu);
  const bool listed = !list::empty(cpu, dentry + field_.d_lru);
  if (listed) {
    list::remove(cpu, dentry + field_.d_lru);
    const Address last = list::previous(cpu, lru_);
    list::add(cpu, dentry + field_.d_lru, last);
  }
  unlock_lru(cpu);
  return listed;
}

// RCU keeps an entry from being freed after it is taken off the list and before its d_lock is held.
void ParallelUpdates::prune_dcache(Cpu& cpu, int count) {
  const FunctionScope scope(cpu, function_.prune_dcache);
  while (count > 0) {
    rcu_->read_lock(cpu);
    lock_lru(cpu);
    const Address last = list::previous(cpu, lru_);
    if (last != lru_) remove_unused(cpu, last - field_.d_lru);
    unlock_lru(cpu);
    if (last == lru_) {
      rcu_->read_unlock(cpu);
      return;
    }
    const Address dentry = last - field_.d_lru;
    Address parent = kNoDentry;
    take(cpu, lock_of(dentry));
    const bool unused = cpu.load(dentry + field_.d_count, kWordBytes) == 0;
    const Value flags = cpu.load(dentry + field_.d_vfs_flags, kWordBytes);
    if (unused && (flags & kReferenced) == 0) {
      parent = condemned(cpu, dentry);
      --count;
    } else {
      cpu.store(dentry + field_.d_vfs_flags, flags & ~kReferenced, kWordBytes);
      if (unused) to_lru(cpu, dentry);
      lock_of(dentry).release(cpu);
    }
    rcu_->read_unlock(cpu);
    dput(cpu, parent);
  }
}

int ParallelUpdates::select_parent(Cpu& cpu, Address parent) {
  const FunctionScope scope(cpu, function_.select_parent);
  lock(cpu);
  take(cpu, lock_of(parent));
  const int found = select_children(cpu, parent);
  lock_of(parent).release(cpu);
  unlock(cpu);
  return found;
}

// REQUIRES: the directory's d_lock is held.
int ParallelUpdates::select_children(Cpu& cpu, Address directory) {
  int found = 0;
  const Address head = directory + field_.d_subdirs;
  for (Address entry = list::next(cpu, head); entry != head; entry = list::next(cpu, entry)) {
    const Address dentry = entry - field_.d_child;
    take(cpu, lock_of(dentry));
    const Value references = checked(cpu.load(dentry + field_.d_count, kWordBytes));
    if (references == 0) {
      if (to_lru_end(cpu, dentry)) ++found;
    } else if (references < kDead) {
      off_lru(cpu, dentry);
      found += select_children(cpu, dentry);
    }
    lock_of(dentry).release(cpu);
  }
  return found;
}

// ---- updates ----

Address ParallelUpdates::d_alloc(Cpu& cpu, Address parent, const Name& name) {
  const FunctionScope scope(cpu, function_.d_alloc);
  const Address dentry = create(cpu, parent, name);
  if (parent == kNoDentry) return dentry;
  MeteredLock& directory = lock_of(parent);
  take(cpu, directory);
  dget(cpu, parent);
  list::add(cpu, dentry + field_.d_child, parent + field_.d_subdirs);
  directory.release(cpu);
  return dentry;
}

void ParallelUpdates::d_instantiate(Cpu& cpu, Address dentry, Address inode) {
  const FunctionScope scope(cpu, function_.d_instantiate);
  if (inode == 0) return;  // negative, as d_alloc() left it
  MeteredLock& aliases = lock_of_inode(inode);
  take(cpu, aliases);
  list::add(cpu, dentry + field_.d_alias, inode + inode_.i_dentry);
  cpu.store(dentry + field_.d_inode, inode, kWordBytes);
  aliases.release(cpu);
}

void ParallelUpdates::leave_inode(Cpu& cpu, Address dentry) {
  const Address inode = inode_of(cpu, dentry);
  if (inode == 0) return;
  MeteredLock& aliases = lock_of_inode(inode);
  take(cpu, aliases);
  detach_inode(cpu, dentry);
  aliases.release(cpu);
  iput(cpu, inode);
}

void ParallelUpdates::d_rehash(Cpu& cpu, Address dentry) {
  const FunctionScope scope(cpu, function_.d_rehash);
  MeteredLock& own = lock_of(dentry);
  take(cpu, own);
  const Address head = chain_of(cpu, dentry);
  take(cpu, lock_of_chain(head));
  cpu.store(dentry + field_.d_flags, 0, kWordBytes);
  list::add(cpu, dentry + field_.d_hash, head);
  lock_of_chain(head).release(cpu);
  own.release(cpu);
}

void ParallelUpdates::leave_chain(Cpu& cpu, Address dentry) {
  if (unhashed(cpu, dentry)) return;
  MeteredLock& chain = lock_of_chain(chain_of(cpu, dentry));
  begin_change(cpu, dentry);
  take(cpu, chain);
  unhash(cpu, dentry);
  chain.release(cpu);
  end_change(cpu, dentry);
}

// Makes the entry negative if the caller has the only reference, because d_lock keeps look-ups from taking another. Otherwise
// unhashes it.
void ParallelUpdates::d_delete(Cpu& cpu, Address dentry) {
  const FunctionScope scope(cpu, function_.d_delete);
  MeteredLock& own = lock_of(dentry);
  take(cpu, own);
  if (cpu.load(dentry + field_.d_count, kWordBytes) == 1) {
    begin_change(cpu, dentry);
    leave_inode(cpu, dentry);
    end_change(cpu, dentry);
  } else {
    leave_chain(cpu, dentry);
  }
  own.release(cpu);
}

void ParallelUpdates::d_drop(Cpu& cpu, Address dentry) {
  MeteredLock& own = lock_of(dentry);
  take(cpu, own);
  leave_chain(cpu, dentry);
  own.release(cpu);
}

void ParallelUpdates::d_move(Cpu& cpu, Address dentry, Address target) {
  const FunctionScope scope(cpu, function_.d_move);
  lock(cpu);  // keeps the parents from changing
  std::vector<MeteredLock*> held;
  const auto hold = [&](MeteredLock& wanted) {
    if (std::ranges::find(held, &wanted) != held.end()) return;
    take(cpu, wanted);
    held.push_back(&wanted);
  };
  for (const Address moved : {dentry, target}) {
    const Address parent = cpu.load(moved + field_.d_parent, kWordBytes);
    hold(lock_of(parent));
  }
  for (const Address moved : {dentry, target}) hold(lock_of(moved));
  for (const Address moved : {dentry, target}) hold(lock_of_chain(chain_of(cpu, moved)));
  for (const Address moved : {dentry, target}) begin_change(cpu, moved);
  exchange_places(cpu, dentry, target);
  for (const Address moved : {dentry, target}) end_change(cpu, moved);
  for (auto last = held.rbegin(); last != held.rend(); ++last) (*last)->release(cpu);
  unlock(cpu);
}

Address ParallelUpdates::follow_dotdot(Cpu& cpu, Address dentry) {
  const FunctionScope scope(cpu, function_.link_path_walk);
  MeteredLock& own = lock_of(dentry);
  take(cpu, own);
  const Address parent = cpu.load(dentry + field_.d_parent, kWordBytes);
  dget(cpu, parent);
  own.release(cpu);
  dput(cpu, dentry);
  return parent;
}

DcacheDesign parallel_updates_dcache() {
  return {.name = "parallel_updates", .defers_freeing = true, .create = make_dcache<ParallelUpdates>};
}

}  // namespace linebounce::workloads
