// A reference count that is distributed while its object lives, and global once the object is dying (Russell's bigref, in
// Thirumalai's patches of 2005). While the object lives, every CPU counts in a word of its own, which may fall below zero,
// and no CPU needs the sum. When the object begins to die, the global count takes over, with a bias that keeps it from
// reaching zero. After a grace period no CPU changes its own word any more, and the sum of the words replaces the bias.
#include <stdexcept>

#include "models/failure.hpp"
#include "workloads/counters/counters.hpp"

namespace linebounce::workloads {
namespace {

constexpr Value kBias = Value{1} << 40;
constexpr Value kOne = 1;

class Bigref final : public ReferenceCount {
 public:
  Bigref(const CounterPlace& place, Address at)
      : rcu_(*place.rcu),
        interrupts_(place.interrupts),
        words_(place.percpu.allocate(kCounterPerCpuBytes)),
        cpus_(place.cpus),
        dying_(at),
        global_(at + 8) {}

  void get(Cpu& cpu) override { add(cpu, kOne); }
  bool put(Cpu& cpu) override { return add(cpu, ~Value{0}); }

  // REQUIRES: the caller is not inside a reader's section, because this function waits for a grace period.
  bool begin_dying(Cpu& cpu) override {
    cpu.store(global_, kBias);
    cpu.store_release(dying_, 1);
    rcu_.synchronize(cpu);
    Value counted = 0;  // 0: the words lack the owner's own reference, and that is dropped now
    for (int other = 0; other < cpus_; ++other) counted += cpu.load(words_.of(other));
    return add_to_global(cpu, counted - kBias);
  }

 private:
  // Returns true if no references are left.
  bool add(Cpu& cpu, Value amount) {
    rcu_.read_lock(cpu);
    const bool global = cpu.load_acquire(dying_) != 0;
    if (!global) add_to_own_word(cpu, interrupts_, words_.of(cpu), amount);
    rcu_.read_unlock(cpu);
    return global && add_to_global(cpu, amount);
  }
  bool add_to_global(Cpu& cpu, Value amount) {
    const Value before = cpu.fetch_add(global_, amount);
    if (before == 0) throw ModelFailure("a bigref is changed of an object that nobody holds");
    return before + amount == 0;
  }

  Rcu& rcu_;
  Interrupts& interrupts_;
  PerCpu words_;
  int cpus_;
  Address dying_;
  Address global_;
};

}  // namespace

CounterEntry bigref_counter() {
  return {"bigref", "References, in one word per CPU; in one shared word once the object is dying", nullptr,
          [](const CounterPlace& place) {
            if (place.rcu == nullptr) throw std::logic_error("a bigref needs RCU");
            const Address at = place.place({.name = "bigref", .fields = {{"dying", 0}, {"global_count", 8}}});
            return std::make_unique<Bigref>(place, at);
          }};
}

}  // namespace linebounce::workloads
