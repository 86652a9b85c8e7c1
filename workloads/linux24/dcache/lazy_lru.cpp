#include "workloads/linux24/dcache/lazy_lru.hpp"

#include "workloads/linux24/dcache/designs.hpp"

namespace linebounce::workloads {

LazyLru::LazyLru(const DcacheSetup& setup, const std::string& dentry_structure) : Dcache(setup, dentry_structure) {
  const Address offset = offset_of(setup.layouts.find(dentry_structure), "d_lock");
  for (const Address dentry : objects())
    locks_.push_back(&setup.locks.create(setup.lock, "d_lock", {.word = dentry + offset, .figures = "d_lock"}));
}

MeteredLock& LazyLru::lock_of(Address dentry) const {
  return *locks_[number_of(dentry)];
}

// After this CPU drops the last reference and before it takes the entry's lock, another CPU may look the entry up. The entry
// then stays as it is.
void LazyLru::dput(Cpu& cpu, Address dentry) {
  const FunctionScope scope(cpu, function_.dput);
  while (dentry != kNoDentry && decrement_and_lock(cpu, dentry)) {
    MeteredLock& own = lock_of(dentry);
    own.acquire(cpu);
    const bool unused = cpu.load(dentry + field_.d_count, kWordBytes) == 0;
    const bool dies = unused && dies_unused(cpu, dentry);
    if (unused && !dies && list::empty(cpu, dentry + field_.d_lru)) add_unused(cpu, dentry);
    own.release(cpu);
    if (dies) {
      if (!list::empty(cpu, dentry + field_.d_lru)) remove_unused(cpu, dentry);
      dentry = kill(cpu, dentry);
    } else {
      unlock_both(cpu);
      dentry = kNoDentry;
    }
  }
}

bool LazyLru::condemn(Cpu& cpu, Address dentry) {
  MeteredLock& own = lock_of(dentry);
  own.acquire(cpu);
  const bool unused = cpu.load(dentry + field_.d_count, kWordBytes) == 0;
  if (unused) unhash(cpu, dentry);
  own.release(cpu);
  return unused;
}

bool LazyLru::in_use_on_lru(Cpu& cpu, Address dentry) {
  return cpu.load(dentry + field_.d_count, kWordBytes) != 0;
}

DcacheDesign lazy_lru_dcache() {
  return {.name = "lazy_lru", .defers_freeing = true, .create = make_dcache<LazyLru>};
}

}  // namespace linebounce::workloads
