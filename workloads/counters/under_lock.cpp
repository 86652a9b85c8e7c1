// A plain word protected by a lock.
#include "workloads/counters/counters.hpp"

namespace linebounce::workloads {
namespace {

class CounterUnderLock final : public Counter {
 public:
  CounterUnderLock(const CounterPlace& place, Address at)
      : lock_(place.locks.create("ttas", place.name + ".lock", {.word = at})), value_(at + 8) {}

  void add(Cpu& cpu, std::int64_t amount) override {
    lock_.acquire(cpu);
    const Value value = cpu.load(value_);
    cpu.store(value_, value + static_cast<Value>(amount));
    lock_.release(cpu);
  }
  std::int64_t read(Cpu& cpu) override { return static_cast<std::int64_t>(cpu.load(value_)); }

 private:
  MeteredLock& lock_;
  Address value_;
};

}  // namespace

CounterEntry under_lock_counter() {
  return {"under_lock", "Events, in a plain word that a lock protects",
          [](const CounterPlace& place) {
            const Address at = place.place({.name = "counter_under_lock", .fields = {{"lock", 0}, {"value", 8}}});
            return std::make_unique<CounterUnderLock>(place, at);
          },
          nullptr};
}

}  // namespace linebounce::workloads
