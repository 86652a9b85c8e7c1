// Test-and-test-and-set with exponential backoff (Anderson: "The performance of spin lock alternatives for shared-memory
// multiprocessors", 1990): who loses a race stays away for a time that doubles from loss to loss, so that fewer try at once.
#include <algorithm>
#include <vector>

#include "workloads/locks/exchange_lock.hpp"
#include "workloads/program/random.hpp"

namespace linebounce::workloads {
namespace {

// Cycles. The shortest is about what one transfer of the line takes: who comes back sooner meets the winner's own transfer. The
// longest is 64 of them: what so many CPUs need who each take the lock once. A longer one leaves the lock free and unused.
constexpr std::int64_t kShortest = 64;
constexpr std::int64_t kLongest = 64 * kShortest;

constexpr std::uint64_t kSeed = 1990;  // of all runs: a lock has no seed of its own

class TtasBackoffLock final : public ExchangeLock {
 public:
  TtasBackoffLock(Address word, int cpus, const LockPlace& place) : ExchangeLock(word, place) {
    for (int cpu = 0; cpu < cpus; ++cpu) random_.emplace_back(kSeed, static_cast<std::uint64_t>(cpu), 0);
  }

 private:
  void wait_and_take(Cpu& cpu) override {
    std::int64_t longest = kShortest;
    for (;;) {
      back_off(cpu, longest);
      wait(cpu);
      if (try_acquire(cpu)) return;
      longest = std::min(2 * longest, kLongest);
    }
  }

  // At random up to `longest`: those who lost together shall not come back together.
  void back_off(Cpu& cpu, std::int64_t longest) {
    Random& random = random_[static_cast<std::size_t>(cpu.id().value)];
    cpu.compute(1 + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(longest))));
  }

  std::vector<Random> random_;  // by CPU
};

}  // namespace

std::unique_ptr<Lock> make_ttas_backoff_lock(const LockPlace& place) {
  const Address word = place.place({.name = "ttas_backoff_lock", .fields = {{"locked", 0, place.word_bytes}}});
  return std::make_unique<TtasBackoffLock>(word, place.per_cpu.cpus(), place);
}

}  // namespace linebounce::workloads
