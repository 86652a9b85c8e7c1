// Test-and-set. Every attempt is an atomic exchange: waiters take the line from the holder again and again.
#include "workloads/locks/locks.hpp"

namespace linebounce {

namespace {

class TasLock final : public Lock {
 public:
  TasLock(Address word, const LockPlace& place) : word_(word), bytes_(place.word_bytes), waits_in_(place.waits_in) {}

  bool acquire(Cpu& cpu) override {
    if (try_acquire(cpu)) return false;
    const FunctionScope waiting(cpu, waits_in_.of(cpu));
    do {
      cpu.compute(Cpu::kSpinPause);
    } while (!try_acquire(cpu));
    return true;
  }
  bool try_acquire(Cpu& cpu) override { return cpu.exchange(word_, 1, bytes_) == 0; }
  void release(Cpu& cpu) override { cpu.store_release(word_, 0, bytes_); }

 private:
  Address word_;
  int bytes_;
  WaitsIn waits_in_;
};

}  // namespace

std::unique_ptr<Lock> make_tas_lock(const LockPlace& place) {
  return std::make_unique<TasLock>(place.place({.name = "tas_lock", .fields = {{"locked", 0, place.word_bytes}}}), place);
}

}  // namespace linebounce
