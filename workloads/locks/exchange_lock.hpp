// A lock of one word that is taken by an atomic exchange. Its kinds differ in what those do who find it taken.
#pragma once

#include "workloads/locks/locks.hpp"

namespace linebounce::workloads {

class ExchangeLock : public Lock {
 public:
  ExchangeLock(Address word, const LockPlace& place) : word_(word), bytes_(place.word_bytes), waits_in_(place.waits_in) {}

  bool acquire(Cpu& cpu) final {
    if (try_acquire(cpu)) return false;
    const FunctionScope waiting(cpu, waits_in_.of(cpu));
    wait_and_take(cpu);
    return true;
  }
  bool try_acquire(Cpu& cpu) final { return cpu.exchange(word_, 1, bytes_) == 0; }
  void release(Cpu& cpu) final { cpu.store_release(word_, 0, bytes_); }

 protected:
  // Reads until the lock looks free.
  void wait(Cpu& cpu) const {
    cpu.spin_until(
        word_, [](Value locked) { return locked == 0; }, bytes_);
  }

 private:
  // After an attempt that has failed; returns when one has not.
  virtual void wait_and_take(Cpu& cpu) = 0;

  Address word_;
  int bytes_;
  WaitsIn waits_in_;
};

}  // namespace linebounce::workloads
