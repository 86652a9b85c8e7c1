// A spin lock and a count in one word of 8 bytes (Linux 3.12). While the lock is free, one compare-and-exchange of the whole
// word changes the count; it fails if a CPU takes the lock in between.
#include "models/failure.hpp"
#include "workloads/counters/counters.hpp"

namespace linebounce::workloads {
namespace {

constexpr Value kOneReference = Value{1} << 32;
constexpr int kHalf = 4;

bool locked(Value word) {
  return (word & 0xFFFFFFFF) != 0;
}
Value count_in(Value word) {
  return word >> 32;
}

class Lockref final : public ReferenceCount {
 public:
  explicit Lockref(Address at) : word_(at), lock_(at), count_(at + kHalf) {}

  void get(Cpu& cpu) override {
    if (change_unlocked(cpu, kOneReference, 0)) return;
    lock(cpu);
    const Value count = cpu.load(count_, kHalf);
    refuse_dead(count);
    cpu.store(count_, count + 1, kHalf);
    unlock(cpu);
  }

  bool put(Cpu& cpu) override {
    if (change_unlocked(cpu, ~kOneReference + 1, 1)) return false;
    lock(cpu);
    const Value count = cpu.load(count_, kHalf);
    refuse_dead(count);
    cpu.store(count_, count - 1, kHalf);
    unlock(cpu);
    return count == 1;
  }

 private:
  static void refuse_dead(Value count) {
    if (count == 0) throw ModelFailure("lockref: a reference is changed of an object that nobody holds");
  }
  // Returns false if the lock is held, or if the count is at most `more_than`.
  bool change_unlocked(Cpu& cpu, Value amount, Value more_than) const {
    Value expected = cpu.load(word_);
    while (!locked(expected) && count_in(expected) > more_than) {
      const Value found = cpu.compare_exchange(word_, expected, expected + amount);
      if (found == expected) return true;
      expected = found;
    }
    return false;
  }
  void lock(Cpu& cpu) const {
    while (cpu.exchange(lock_, 1, kHalf) != 0) {
      cpu.spin_until(
          lock_, [](Value taken) { return taken == 0; }, kHalf);
    }
  }
  void unlock(Cpu& cpu) const { cpu.store_release(lock_, 0, kHalf); }

  Address word_, lock_, count_;
};

}  // namespace

CounterEntry lockref_counter() {
  return {"lockref", "References, in one word with a spin lock", nullptr, [](const CounterPlace& place) {
            const Address at = place.place({.name = "lockref", .fields = {{"lock", 0, kHalf}, {"count", kHalf, kHalf}}});
            place.memory.preset(at, kOneReference);
            return std::make_unique<Lockref>(at);
          }};
}

}  // namespace linebounce::workloads
