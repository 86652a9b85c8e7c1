// The LRU list of unused entries, and how it is pruned.
#include "workloads/linux24/dcache/dcache.hpp"

namespace linebounce::workloads {

void Dcache::add_unused(Cpu& cpu, Address dentry) {
  list::add(cpu, dentry + field_.d_lru, lru_);
  const Value unused = cpu.load(nr_unused_, kWordBytes);
  cpu.store(nr_unused_, unused + 1, kWordBytes);
}

void Dcache::remove_unused(Cpu& cpu, Address dentry) {
  const Value unused = cpu.load(nr_unused_, kWordBytes);
  cpu.store(nr_unused_, unused - 1, kWordBytes);
  list::remove_and_initialise(cpu, dentry + field_.d_lru);
}

void Dcache::prune_dcache(Cpu& cpu, int count) {
  const FunctionScope scope(cpu, function_.prune_dcache);
  lock_lru(cpu);
  while (count > 0) {
    const Address last = list::previous(cpu, lru_);
    if (last == lru_) break;
    const Address dentry = last - field_.d_lru;
    remove_unused(cpu, dentry);
    if (in_use_on_lru(cpu, dentry)) continue;
    const Value flags = cpu.load(dentry + field_.d_vfs_flags, kWordBytes);
    if ((flags & kReferenced) != 0) {
      cpu.store(dentry + field_.d_vfs_flags, flags & ~kReferenced, kWordBytes);
      add_unused(cpu, dentry);
      continue;
    }
    lock_inside_lru(cpu);
    if (!condemn(cpu, dentry)) {
      unlock_inside_lru(cpu);
      continue;
    }
    const Address parent = kill(cpu, dentry);
    dput(cpu, parent);
    --count;
    const FunctionScope again(cpu, function_.prune_dcache_again);
    lock_lru(cpu);
  }
  unlock_lru(cpu);
}

int Dcache::select_parent(Cpu& cpu, Address parent) {
  const FunctionScope scope(cpu, function_.select_parent);
  lock_lru(cpu);
  lock_inside_lru(cpu);
  int found = 0;
  Address directory = parent;
  Address entry = list::next(cpu, directory + field_.d_subdirs);
  for (;;) {
    if (entry != directory + field_.d_subdirs) {
      const Address dentry = entry - field_.d_child;
      if (checked(cpu.load(dentry + field_.d_count, kWordBytes)) == 0) {
        list::remove(cpu, dentry + field_.d_lru);
        const Address last = list::previous(cpu, lru_);
        list::add(cpu, dentry + field_.d_lru, last);
        ++found;
      } else if (in_use_on_lru(cpu, dentry) && !list::empty(cpu, dentry + field_.d_lru)) {
        remove_unused(cpu, dentry);
      }
      entry = list::next(cpu, entry);
      const Address below = list::next(cpu, dentry + field_.d_subdirs);
      if (below == dentry + field_.d_subdirs) continue;
      directory = dentry;
      entry = below;
    } else {
      if (directory == parent) break;
      entry = list::next(cpu, directory + field_.d_child);
      directory = cpu.load(directory + field_.d_parent, kWordBytes);
    }
  }
  unlock_both(cpu);
  return found;
}

void Dcache::shrink_dcache_parent(Cpu& cpu, Address parent) {
  while (const int found = select_parent(cpu, parent)) prune_dcache(cpu, found);
}

}  // namespace linebounce::workloads
