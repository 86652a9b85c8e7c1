// The big-reader lock of Linux 2.4: every CPU has a reader-writer lock on a line of its own. A reader takes that of its CPU,
// and no line moves; a writer takes all of them, in order.
#include <fmt/format.h>

#include <vector>

#include "workloads/locks/biased_counter.hpp"
#include "workloads/locks/locks.hpp"

namespace linebounce::workloads {
namespace {

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

}  // namespace

// A word of the structure that it protects is of no use to it.
std::unique_ptr<Lock> make_brlock(const LockPlace& place) {
  const Layout layout{.name = "brlock", .size = place.memory.line_bytes(), .fields = {{"counter", 0, BiasedCounter::kBytes}}};
  std::vector<BiasedCounter> counters;
  for (int cpu = 0; cpu < place.per_cpu.cpus(); ++cpu) {
    counters.emplace_back(place.memory, place.per_cpu.place(layout, fmt::format("{}[{}]", place.name, cpu), cpu));
  }
  return std::make_unique<BigReaderLock>(std::move(counters), place.waits_in);
}

}  // namespace linebounce::workloads
