// An atomic count whose last reference is dropped under a lock, as for inodes and dentries. Other CPUs must hold the same lock
// to find the object and take a reference.
#include "models/failure.hpp"
#include "workloads/counters/counters.hpp"

namespace linebounce::workloads {
namespace {

class DecAndLock final : public ReferenceCount {
 public:
  DecAndLock(const CounterPlace& place, Address at)
      : lock_(place.locks.create("ttas", place.name + ".lock", {.word = at})), count_(at + 8) {}

  void get(Cpu& cpu) override {
    const Value before = cpu.fetch_add(count_, 1);
    if (before == 0) throw ModelFailure("dec_and_lock: a reference is taken of an object that nobody holds");
  }
  bool put(Cpu& cpu) override {
    if (!dec_and_lock(cpu, count_, lock_)) return false;
    lock_.release(cpu);
    return true;
  }

 private:
  MeteredLock& lock_;
  Address count_;
};

}  // namespace

bool dec_and_lock(Cpu& cpu, Address count, MeteredLock& lock, int bytes) {
  Value expected = cpu.load(count, bytes);
  while (expected > 1) {
    const Value found = cpu.compare_exchange(count, expected, expected - 1, bytes);
    if (found == expected) return false;
    expected = found;
  }
  lock.acquire(cpu);
  const Value before = cpu.fetch_add(count, ~Value{0}, bytes);
  if (before == 0) throw ModelFailure("dec_and_lock: a reference is put that nobody holds");
  if (before == 1) return true;
  lock.release(cpu);
  return false;
}

CounterEntry dec_and_lock_counter() {
  return {"dec_and_lock", "References, by compare-and-exchange; the last one is dropped under a lock", nullptr,
          [](const CounterPlace& place) {
            const Address at = place.place({.name = "dec_and_lock", .fields = {{"lock", 0}, {"count", 8}}});
            place.memory.preset(at + 8, 1);
            return std::make_unique<DecAndLock>(place, at);
          }};
}

}  // namespace linebounce::workloads
