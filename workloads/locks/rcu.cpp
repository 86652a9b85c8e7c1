// Read-copy update (RCU) as a lock: readers acquire nothing, and writers exclude each other. Readers do not keep writers out. A
// writer must therefore publish a changed copy, and keep the old version until its readers have left. The workload does that,
// with workloads/rcu.
#include "workloads/locks/lock_registry.hpp"
#include "workloads/locks/locks.hpp"

namespace linebounce::workloads {
namespace {

class RcuLock final : public Lock {
 public:
  explicit RcuLock(std::unique_ptr<Lock> writers) : writers_(std::move(writers)) {}

  bool acquire(Cpu& cpu) override { return writers_->acquire(cpu); }
  bool try_acquire(Cpu& cpu) override { return writers_->try_acquire(cpu); }
  void release(Cpu& cpu) override { writers_->release(cpu); }

  bool acquire_shared(Cpu& cpu) override {
    cpu.now();  // lets other CPUs run, in case a program calls this in a loop
    return false;
  }
  bool release_shared(Cpu& /*cpu*/) override { return true; }

 private:
  std::unique_ptr<Lock> writers_;
};

std::unique_ptr<Lock> make_rcu_lock(const LockPlace& place) {
  return std::make_unique<RcuLock>(find_lock("ttas").create(place));
}

}  // namespace

LockEntry rcu_lock() {
  return {.name = "rcu",
          .title = "Readers acquire nothing; writers take turns, publish copies and wait for grace periods",
          .traits = {.readers = Readers::never_wait},
          .create = make_rcu_lock,
          .library = "liburcu (rcu_read_lock)"};
}

}  // namespace linebounce::workloads
