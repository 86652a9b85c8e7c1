// Linux' sequence lock: a writer, alone by a spin lock, makes the sequence odd while it writes. Readers write nothing; they
// read again if the sequence has changed.
#include <vector>

#include "workloads/locks/locks.hpp"

namespace linebounce::workloads {
namespace {

constexpr Address kSequence = 0;       // 4 bytes
constexpr Address kSeqlockLocked = 4;  // 4 bytes
constexpr int kSeqlockHalf = 4;

class SequenceLock final : public Lock {
 public:
  SequenceLock(Address words, int cpus, const WaitsIn& waits_in)
      : sequence_(words + kSequence),
        locked_(words + kSeqlockLocked),
        reads_(static_cast<std::size_t>(cpus)),
        waits_in_(waits_in) {}

  bool acquire(Cpu& cpu) override {
    const bool waited = !try_to_lock(cpu);
    if (waited) {
      const FunctionScope waiting(cpu, waits_in_.of(cpu));
      do {
        cpu.spin_until(
            locked_, [](Value locked) { return locked == 0; }, kSeqlockHalf);
      } while (!try_to_lock(cpu));
    }
    begin_write(cpu);
    return waited;
  }
  bool try_acquire(Cpu& cpu) override {
    if (!try_to_lock(cpu)) return false;
    begin_write(cpu);
    return true;
  }
  void release(Cpu& cpu) override {
    cpu.store_release(sequence_, cpu.load(sequence_, kSeqlockHalf) + 1, kSeqlockHalf);
    cpu.store_release(locked_, 0, kSeqlockHalf);
  }

  bool acquire_shared(Cpu& cpu) override {
    Value seen = cpu.load_acquire(sequence_, kSeqlockHalf);
    const bool waited = is_odd(seen);
    if (waited) {
      const FunctionScope waiting(cpu, waits_in_.of(cpu));
      seen = cpu.spin_until_acquire(
          sequence_, [](Value now) { return !is_odd(now); }, kSeqlockHalf);
    }
    reads(cpu).push_back(seen);
    return waited;
  }
  // A CPU's loads are done one after the other: no fence is needed before this one.
  bool release_shared(Cpu& cpu) override {
    const Value begun = reads(cpu).back();
    reads(cpu).pop_back();
    return cpu.load(sequence_, kSeqlockHalf) == begun;
  }

 private:
  static bool is_odd(Value sequence) { return sequence % 2 != 0; }

  bool try_to_lock(Cpu& cpu) const { return cpu.exchange(locked_, 1, kSeqlockHalf) == 0; }
  // What the section writes comes after the odd sequence.
  void begin_write(Cpu& cpu) const {
    const Value before = cpu.load(sequence_, kSeqlockHalf);
    cpu.store(sequence_, before + 1, kSeqlockHalf);
    cpu.store_fence();
  }
  std::vector<Value>& reads(const Cpu& cpu) { return reads_[static_cast<std::size_t>(cpu.id().value)]; }

  Address sequence_, locked_;
  std::vector<std::vector<Value>> reads_;  // by CPU: the sequence at which each reader on it began, as from its stack
  WaitsIn waits_in_;
};

}  // namespace

std::unique_ptr<Lock> make_seqlock(const LockPlace& place) {
  const Layout layout{.name = "seqlock",
                      .fields = {{"sequence", kSequence, kSeqlockHalf}, {"locked", kSeqlockLocked, kSeqlockHalf}}};
  return std::make_unique<SequenceLock>(place.place(layout), place.per_cpu.cpus(), place.waits_in);
}

}  // namespace linebounce::workloads
