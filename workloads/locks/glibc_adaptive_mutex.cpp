// glibc's PTHREAD_MUTEX_ADAPTIVE_NP (2.36): a CPU that finds the mutex held tries again for a while, with pauses that double,
// before it sleeps in the kernel. How long it tries follows how long it took before: spinning pays as long as a section is
// shorter than a sleep.
#include <algorithm>
#include <vector>

#include "workloads/locks/futexes.hpp"
#include "workloads/locks/lock_registry.hpp"
#include "workloads/locks/locks.hpp"
#include "workloads/program/random.hpp"

namespace linebounce::workloads {
namespace {

constexpr Address kAdaptiveWord = 0, kAdaptiveOwner = 4, kSpins = 6;  // kSpins: about how many pauses it took lately
constexpr int kAdaptiveBytes = 4, kAdaptiveHalf = 2;
constexpr Value kIsFree = 0, kIsHeld = 1, kIsWaitedFor = 2;
constexpr int kMostPauses = 100, kLongestBackoff = 16;
constexpr std::int64_t kPauseCycles = 40;      // x86's `pause`: 10 cycles before Skylake, 140 since; Zen between 40 and 65
constexpr int kInstructionsEachWay = 30;       // as in glibc_mutex.cpp
constexpr std::uint64_t kJitterSeries = 2022;  // added to the run's seed, so that programs draw other numbers

class GlibcAdaptiveMutex final : public Lock {
 public:
  GlibcAdaptiveMutex(Address at, const LockPlace& place)
      : word_{at + kAdaptiveWord, kAdaptiveBytes},
        owner_(at + kAdaptiveOwner),
        spins_(at + kSpins),
        futexes_(&Futexes::of(place.per_cpu)),
        waits_in_(place.waits_in) {
    for (int cpu = 0; cpu < place.per_cpu.cpus(); ++cpu)
      jitter_.emplace_back(kJitterSeries + place.per_cpu.seed(), static_cast<std::uint64_t>(cpu), 0);
  }

  bool acquire(Cpu& cpu) override {
    if (try_acquire(cpu)) return false;
    const FunctionScope waiting(cpu, waits_in_.of(cpu));
    wait(cpu);
    keep(cpu);
    return true;
  }
  bool try_acquire(Cpu& cpu) override {
    cpu.execute(kInstructionsEachWay);
    cpu.load(owner_, kAdaptiveHalf);
    if (!took(cpu)) return false;
    keep(cpu);
    return true;
  }
  void release(Cpu& cpu) override {
    cpu.execute(kInstructionsEachWay);
    cpu.store(owner_, 0, kAdaptiveHalf);
    if (cpu.exchange(word_.address, kIsFree, kAdaptiveBytes) == kIsWaitedFor) futexes_->wake(cpu, word_.address, 1);
  }

 private:
  bool took(Cpu& cpu) { return cpu.compare_exchange(word_.address, kIsFree, kIsHeld, kAdaptiveBytes) == kIsFree; }
  void keep(Cpu& cpu) { cpu.store(owner_, static_cast<Value>(cpu.id().value) + 1, kAdaptiveHalf); }

  void wait(Cpu& cpu) {
    const int most = std::min(kMostPauses, 2 * spins(cpu) + 10);
    const int jitter = static_cast<int>(jitter_[static_cast<std::size_t>(cpu.id().value)].below(kLongestBackoff));
    int count = 0;
    for (int backoff = 1;; backoff = std::min(2 * backoff, kLongestBackoff)) {
      const int pauses = backoff + (jitter & (backoff - 1));
      count += pauses;
      if (count >= most) {
        sleep(cpu);
        break;
      }
      cpu.compute(kPauseCycles * pauses);
      if (cpu.load(word_.address, kAdaptiveBytes) == kIsFree && took(cpu)) break;
    }
    const int before = spins(cpu);
    const int now = before + (count - before) / 8;
    cpu.store(spins_, static_cast<Value>(now), kAdaptiveHalf);
  }

  void sleep(Cpu& cpu) {
    if (took(cpu)) return;
    if (cpu.load(word_.address, kAdaptiveBytes) == kIsWaitedFor) futexes_->wait(cpu, word_, kIsWaitedFor);
    while (cpu.exchange(word_.address, kIsWaitedFor, kAdaptiveBytes) != kIsFree) futexes_->wait(cpu, word_, kIsWaitedFor);
  }

  int spins(Cpu& cpu) { return static_cast<int>(cpu.load(spins_, kAdaptiveHalf)); }

  Cpu::Word word_;
  Address owner_, spins_;
  const Futexes* futexes_;
  WaitsIn waits_in_;
  std::vector<Random> jitter_;  // each CPU's random numbers
};

std::unique_ptr<Lock> make_glibc_adaptive_mutex(const LockPlace& place) {
  const Address at = place.place({.name = "glibc_adaptive_mutex",
                                  .fields = {{"word", kAdaptiveWord, kAdaptiveBytes},
                                             {"owner", kAdaptiveOwner, kAdaptiveHalf},
                                             {"spins", kSpins, kAdaptiveHalf}}});
  return std::make_unique<GlibcAdaptiveMutex>(at, place);
}

}  // namespace

LockEntry glibc_adaptive_mutex() {
  return {.name = "glibc_adaptive_mutex",
          .title = "glibc: PTHREAD_MUTEX_ADAPTIVE_NP; tries for a while, then sleeps in the kernel",
          .traits = {.sleeps = true},
          .create = make_glibc_adaptive_mutex,
          .library = "glibc (PTHREAD_MUTEX_ADAPTIVE_NP)"};
}

}  // namespace linebounce::workloads
