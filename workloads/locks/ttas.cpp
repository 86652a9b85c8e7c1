// Test-and-test-and-set. Waiters read their own copy until it changes and only then try: what Linux 2.4 and 2.6 did on i386
// (decb, then a loop of loads).
#include "workloads/locks/locks.hpp"

namespace linebounce {

namespace {

class TtasLock final : public Lock {
 public:
  TtasLock(Address word, const LockPlace& place) : word_(word), bytes_(place.word_bytes), waits_in_(place.waits_in) {}

  bool acquire(Cpu& cpu) override {
    if (try_acquire(cpu)) return false;
    const FunctionScope waiting(cpu, waits_in_.of(cpu));
    do {
      cpu.spin_until(
          word_, [](Value locked) { return locked == 0; }, bytes_);
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

std::unique_ptr<Lock> make_ttas_lock(const LockPlace& place) {
  return std::make_unique<TtasLock>(place.place({.name = "ttas_lock", .fields = {{"locked", 0, place.word_bytes}}}), place);
}

}  // namespace linebounce
