// No lock at all, to measure the bare cost of a section. The MeteredLock around it counts the sections that overlapped.
#include "workloads/locks/lock_registry.hpp"
#include "workloads/locks/locks.hpp"

namespace linebounce::workloads {
namespace {

class NoLock final : public Lock {
 public:
  bool acquire(Cpu& cpu) override {
    cpu.now();  // lets other CPUs run, in case a program calls this in a loop
    return false;
  }
  bool try_acquire(Cpu& cpu) override { return !acquire(cpu); }
  void release(Cpu& /*cpu*/) override {}
};

std::unique_ptr<Lock> make_no_lock(const LockPlace& /*place*/) {
  return std::make_unique<NoLock>();
}

}  // namespace

LockEntry no_lock() {
  return {.name = "none",
          .title = "No lock: the cost of the critical section alone, with its races counted",
          .traits = {.excludes = false, .readers = Readers::together, .fits_4_bytes = true},
          .create = make_no_lock};
}

}  // namespace linebounce::workloads
