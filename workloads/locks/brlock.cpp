// The big-reader lock of Linux 2.4: every CPU has a reader-writer lock on a separate line. A reader takes only its own CPU's
// lock, so no line moves between caches. A writer takes all CPUs' locks, in order.
#include <fmt/format.h>

#include <vector>

#include "workloads/locks/lock_registry.hpp"
#include "workloads/locks/locks.hpp"

namespace linebounce::workloads {
namespace {

// The reader-writer lock of Linux 2.4 and 2.6 on i386: a word of four bytes that starts at the bias. A reader subtracts 1, a
// writer subtracts the whole bias; the value before the subtraction tells whether the CPU may enter. A CPU that may not adds
// the amount back and watches the word.
class BiasedCounter {
 public:
  static constexpr int kBytes = 4;

  BiasedCounter(AddressSpace& memory, Address word) : word_(word) { memory.preset(word, kBias, kBytes); }

  // Return true if the CPU has taken the lock. After false, the caller must call the matching wait_to_...(), which returns with
  // the lock.
  [[nodiscard]] bool read_at_once(Cpu& cpu) const { return reads(take(cpu, 1)); }
  [[nodiscard]] bool write_at_once(Cpu& cpu) const { return take(cpu, kBias) == kBias; }

  void wait_to_read(Cpu& cpu) const {
    do {
      give(cpu, 1);
      cpu.spin_until(word_, reads, kBytes);
    } while (!read_at_once(cpu));
  }
  void wait_to_write(Cpu& cpu) const {
    do {
      give(cpu, kBias);
      cpu.spin_until(
          word_, [](Value count) { return count == kBias; }, kBytes);
    } while (!write_at_once(cpu));
  }

  void end_read(Cpu& cpu) const { give(cpu, 1); }
  void end_write(Cpu& cpu) const { give(cpu, kBias); }  // also undoes a write_at_once() that has returned false

 private:
  static constexpr Value kBias = 0x01000000;  // more than the number of CPUs
  // `count` is the word before a reader's subtraction. If a writer is inside or trying, it is 0, or negative as a signed 32-bit
  // number.
  static bool reads(Value count) { return count >= 1 && count <= kBias; }

  // Subtracts `amount`; returns the value before the subtraction.
  Value take(Cpu& cpu, Value amount) const { return cpu.fetch_add(word_, (Value{1} << 32) - amount, kBytes); }
  void give(Cpu& cpu, Value amount) const { cpu.fetch_add(word_, amount, kBytes); }

  Address word_;
};

class BigReaderLock final : public Lock {
 public:
  BigReaderLock(std::vector<BiasedCounter> counters, const WaitsIn& waits_in)
      : counters_(std::move(counters)), waits_in_(waits_in) {}

  bool acquire(Cpu& cpu) override {
    bool waited = false;
    for (const BiasedCounter& counter : counters_) {
      if (counter.write_at_once(cpu)) continue;
      const FunctionScope waiting(cpu, waits_in_.of(cpu));
      counter.wait_to_write(cpu);
      waited = true;
    }
    return waited;
  }
  bool try_acquire(Cpu& cpu) override {
    for (std::size_t i = 0; i < counters_.size(); ++i) {
      if (counters_[i].write_at_once(cpu)) continue;
      for (std::size_t taken = 0; taken <= i; ++taken) counters_[taken].end_write(cpu);
      return false;
    }
    return true;
  }
  void release(Cpu& cpu) override {
    for (const BiasedCounter& counter : counters_) counter.end_write(cpu);
  }

  bool acquire_shared(Cpu& cpu) override {
    if (own(cpu).read_at_once(cpu)) return false;
    const FunctionScope waiting(cpu, waits_in_.of(cpu));
    own(cpu).wait_to_read(cpu);
    return true;
  }
  bool release_shared(Cpu& cpu) override {
    own(cpu).end_read(cpu);
    return true;
  }

 private:
  [[nodiscard]] const BiasedCounter& own(const Cpu& cpu) const { return counters_[static_cast<std::size_t>(cpu.id().value)]; }

  std::vector<BiasedCounter> counters_;  // each CPU's lock
  WaitsIn waits_in_;
};

// Ignores `place.word`: one word in the structure that the lock protects can't give each CPU a separate line.
std::unique_ptr<Lock> make_brlock(const LockPlace& place) {
  const Layout layout{.name = "brlock", .size = place.memory.line_bytes(), .fields = {{"counter", 0, BiasedCounter::kBytes}}};
  std::vector<BiasedCounter> counters;
  for (int cpu = 0; cpu < place.per_cpu.cpus(); ++cpu) {
    counters.emplace_back(place.memory, place.per_cpu.place(layout, fmt::format("{}[{}]", place.name, cpu), cpu));
  }
  return std::make_unique<BigReaderLock>(std::move(counters), place.waits_in);
}

}  // namespace

LockEntry brlock() {
  return {.name = "brlock",
          .title = "A reader acquires its own CPU's lock, a writer all CPUs' (Linux 2.4)",
          .traits = {.readers = Readers::together},
          .create = make_brlock};
}

}  // namespace linebounce::workloads
