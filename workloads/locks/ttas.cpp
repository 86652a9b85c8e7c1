// Test-and-test-and-set. Waiters read their own copy until it changes and only then try: what Linux 2.4 and 2.6 did on i386
// (decb, then a loop of loads).
#include "workloads/locks/exchange_lock.hpp"

namespace linebounce::workloads {
namespace {

class TtasLock final : public ExchangeLock {
 public:
  using ExchangeLock::ExchangeLock;

 private:
  void wait_and_take(Cpu& cpu) override {
    do {
      wait(cpu);
    } while (!try_acquire(cpu));
  }
};

}  // namespace

std::unique_ptr<Lock> make_ttas_lock(const LockPlace& place) {
  return std::make_unique<TtasLock>(place.place({.name = "ttas_lock", .fields = {{"locked", 0, place.word_bytes}}}), place);
}

}  // namespace linebounce::workloads
