// As rcu_lookup, and the LRU list has its own lock, d_lru_lock, which is taken before dcache_lock (OLS 2002, section 4).
// Freeing an entry needs both. If d_lookup finds an entry that is being unhashed, the entry is freed when that reference is
// dropped.
#include "workloads/linux24/dcache/designs.hpp"

namespace linebounce::workloads {
namespace {

class SeparateLruLock final : public Dcache {
 public:
  explicit SeparateLruLock(const DcacheSetup& setup)
      : Dcache(setup, "dentry_rcu"), lru_lock_(&setup.locks.create(setup.lock, "d_lru_lock")) {}

  Address d_lookup(Cpu& cpu, Address parent, const Name& name) override { return find_and_get(cpu, parent, name); }

 protected:
  void lock_lru(Cpu& cpu) override { take(cpu, *lru_lock_); }
  void unlock_lru(Cpu& cpu) override { lru_lock_->release(cpu); }
  void lock_inside_lru(Cpu& cpu) override { lock(cpu); }
  void unlock_inside_lru(Cpu& cpu) override { unlock(cpu); }

 private:
  MeteredLock* lru_lock_;
};

}  // namespace

DcacheDesign separate_lru_lock_dcache() {
  return {.name = "separate_lru_lock", .defers_freeing = true, .create = make_dcache<SeparateLruLock>};
}

}  // namespace linebounce::workloads
