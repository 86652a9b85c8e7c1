// The big-reader lock of Linux 2.4: every CPU has a reader-writer lock on a line of its own. A reader takes that of its CPU,
// and no line moves; a writer takes all of them, in order.
#include <fmt/format.h>

#include <vector>

#include "workloads/locks/lock_registry.hpp"
#include "workloads/locks/locks.hpp"

namespace linebounce::workloads {
namespace {

// The reader-writer lock of Linux 2.4 and 2.6 on i386, on one word of four bytes that begins at the bias: a reader takes 1 and
// a writer the whole bias. What is left says who was there. Who finds too little gives back what he took and watches the word.
class BiasedCounter {
 public:
  static constexpr int kBytes = 4;

  BiasedCounter(AddressSpace& memory, Address word) : word_(word) { memory.preset(word, kBias, kBytes); }

  // Whether it was free at the first attempt; after false comes wait_...(), which returns with the lock.
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
  void end_write(Cpu& cpu) const { give(cpu, kBias); }  // or gives back what write_at_once() took in vain

 private:
  static constexpr Value kBias = 0x01000000;                               // more than there are readers
  static bool reads(Value count) { return count >= 1 && count <= kBias; }  // else it is 0, or negative in 4 bytes

  // What was there before.
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

  std::vector<BiasedCounter> counters_;  // by CPU
  WaitsIn waits_in_;
};

// A word of the structure that it protects is of no use to it.
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
