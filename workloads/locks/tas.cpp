// Test-and-set. Every attempt is an atomic exchange: waiters take the line from the holder again and again.
#include "workloads/locks/exchange_lock.hpp"

namespace linebounce::workloads {
namespace {

class TasLock final : public ExchangeLock {
 public:
  using ExchangeLock::ExchangeLock;

 private:
  void wait_and_take(Cpu& cpu) override {
    do {
      cpu.compute(Cpu::kSpinPause);
    } while (!try_acquire(cpu));
  }
};

}  // namespace

std::unique_ptr<Lock> make_tas_lock(const LockPlace& place) {
  return std::make_unique<TasLock>(place.place({.name = "tas_lock", .fields = {{"locked", 0, place.word_bytes}}}), place);
}

}  // namespace linebounce::workloads
