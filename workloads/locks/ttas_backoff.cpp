// Test-and-test-and-set with exponential backoff (Anderson: "The performance of spin lock alternatives for shared-memory
// multiprocessors", 1990). A CPU that loses a race for the lock backs off for a time that doubles with each loss, so that fewer
// CPUs try at once.
#include <algorithm>
#include <vector>

#include "workloads/locks/lock_registry.hpp"
#include "workloads/locks/locks.hpp"
#include "workloads/program/random.hpp"

namespace linebounce::workloads {
namespace {

// Backoff times in cycles. The shortest is about one transfer of the line; a CPU that retried sooner would collide with the
// winner's own transfer. The longest is 64 transfers, enough for 64 CPUs to take the lock once each; with more, the lock would
// often be free while all wait.
constexpr std::int64_t kShortest = 64;
constexpr std::int64_t kLongest = 64 * kShortest;

constexpr std::uint64_t kBackoffSeries = 1989;  // added to the run's seed, so that programs draw other numbers

class TtasBackoffLock final : public Lock {
 public:
  TtasBackoffLock(Address word, const LockPlace& place) : word_(word), bytes_(place.word_bytes), waits_in_(place.waits_in) {
    for (int cpu = 0; cpu < place.per_cpu.cpus(); ++cpu)
      random_.emplace_back(kBackoffSeries + place.per_cpu.seed(), static_cast<std::uint64_t>(cpu), 0);
  }

  bool acquire(Cpu& cpu) override {
    if (try_acquire(cpu)) return false;
    const FunctionScope waiting(cpu, waits_in_.of(cpu));
    std::int64_t longest = kShortest;
    for (;;) {
      back_off(cpu, longest);
      cpu.spin_until(
          word_, [](Value locked) { return locked == 0; }, bytes_);
      if (try_acquire(cpu)) return true;
      longest = std::min(2 * longest, kLongest);
    }
  }
  bool try_acquire(Cpu& cpu) override { return cpu.exchange(word_, 1, bytes_) == 0; }
  void release(Cpu& cpu) override { cpu.store_release(word_, 0, bytes_); }

 private:
  // Backs off for a random time of up to `longest` cycles. Random, so that CPUs that lost together don't retry together.
  void back_off(Cpu& cpu, std::int64_t longest) {
    Random& random = random_[static_cast<std::size_t>(cpu.id().value)];
    cpu.compute(1 + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(longest))));
  }

  Address word_;
  int bytes_;
  WaitsIn waits_in_;
  std::vector<Random> random_;  // each CPU's random numbers
};

std::unique_ptr<Lock> make_ttas_backoff_lock(const LockPlace& place) {
  const Address word = place.place({.name = "ttas_backoff_lock", .fields = {{"locked", 0, place.word_bytes}}});
  return std::make_unique<TtasBackoffLock>(word, place);
}

}  // namespace

LockEntry ttas_backoff() {
  return {.name = "ttas_backoff",
          .title = "Like ttas, with exponential back-off after a lost race",
          .traits = {.fits_4_bytes = true},
          .create = make_ttas_backoff_lock,
          .library = "ConcurrencyKit (ck_spinlock_fas_lock_eb)"};
}

}  // namespace linebounce::workloads
