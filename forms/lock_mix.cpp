#include "forms/lock_mix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "workloads/program/random.hpp"

namespace linebounce::sim {
namespace {

constexpr double kUsPerS = 1e6;
constexpr std::size_t kMostMixed = 8;
// The least number of measured waits: the mean of 30 exponentially distributed times has a relative standard deviation of 18
// %.
constexpr std::uint64_t kFewestWaits = 30;
constexpr double kAtMostOff = 2;  // largest accepted ratio between measured and expected waiting, either way
// The trace has kOfRarest acquisitions of the rarest lock, but in total at least kFewest and at most kMost.
constexpr std::int64_t kOfRarest = 1000, kFewest = 50000, kMost = 200000;

// The waiting that queueing theory expects if CPUs alternately compute and hold a lock, both for exponentially distributed
// times. Computed by mean-value analysis of a closed network (Reiser, Lavenberg, 1980): an arriving CPU sees the queue that
// the other CPUs would form without it.
struct Expected {
  double busy = 0;  // share of arrivals that find the lock held, 0 to 1
  double wait_us = 0;
};

Expected expected_of(int cpus, double between_us, double hold_us) {
  double queue = 0, busy = 0;
  for (int others = 1; others < cpus; ++others) {
    const double response_us = hold_us * (1 + queue);
    const double per_us = others / (between_us + response_us);
    queue = per_us * response_us;
    busy = per_us * hold_us;
  }
  return {busy, hold_us * queue};
}

bool agree(double measured, double expected) {
  return measured <= expected * kAtMostOff && expected <= measured * kAtMostOff;
}

// lock_stat does not tell which locks put waiters to sleep, so guesses from the name.
bool sleeps_by_name(const std::string& name) {
  return name.find("mutex") != std::string::npos || name.find("sem") != std::string::npos;
}

// Returns why a class is left out of the mix; empty if it is kept. Sets the measured and expected waiting of `mixed`.
std::string reason_against(const LockStatistics& lock, const MeasuredTime& measured, MixedLock& mixed) {
  const auto taken = static_cast<double>(*lock.acquisitions);
  const double cpu_us = measured.seconds * kUsPerS * measured.cpus;
  mixed.name = lock.name;
  mixed.per_s = taken / measured.seconds;
  mixed.hold_us = lock.hold->total_us / taken;
  mixed.busy_pct = 100 * static_cast<double>(lock.waits) / taken;
  mixed.wait_us = lock.wait.total_us / taken;
  if (lock.has_readers) return "has readers: who waited for whom is not told";
  if (sleeps_by_name(lock.name)) return "sleeps, by its name: how many threads take it is not told";
  if (lock.waits < kFewestWaits) return fmt::format("was waited for {} times: too few to tell more", lock.waits);
  if (lock.hold->total_us > measured.seconds * kUsPerS)
    return fmt::format("was held {:.0f} % of the time: the class is many locks, or its holders sleep",
                       lock.hold->total_us / measured.seconds / kUsPerS * 100);
  const double between_us = cpu_us / taken - mixed.hold_us - mixed.wait_us;
  if (between_us <= 0) return "was held and waited for longer than all CPUs had";
  const Expected expected = expected_of(measured.cpus, between_us, mixed.hold_us);
  mixed.expected_busy_pct = 100 * expected.busy;
  mixed.expected_wait_us = expected.wait_us;
  if (!agree(mixed.busy_pct, mixed.expected_busy_pct))
    return fmt::format(
        "was waited for by {:.3g} % of its acquisitions, where {:.3g} % were to be expected: {}", mixed.busy_pct,
        mixed.expected_busy_pct,
        mixed.busy_pct < mixed.expected_busy_pct ? "the class is many locks, or few CPUs take it" : "it is taken in bursts");
  if (!agree(mixed.wait_us, mixed.expected_wait_us))
    return fmt::format(
        "waited {:.3g} µs for an acquisition, and {:.3g} µs were to be expected: some holds are much longer than most, "
        "or it is taken in bursts",
        mixed.wait_us, mixed.expected_wait_us);
  return "";
}

double used_us(const MixedLock& lock) {
  return lock.per_s * (lock.hold_us + lock.wait_us);
}

std::uint64_t cycles(workloads::Random& random, double mean_us, int mhz) {
  constexpr std::int64_t kUnit = 1 << 20;
  constexpr double kMostCycles = 1099511627776;  // 2^40, an operation's largest argument
  const double drawn = static_cast<double>(workloads::draw_exponential(random, kUnit)) / kUnit;
  return static_cast<std::uint64_t>(std::llround(std::min(drawn * mean_us * mhz, kMostCycles)));
}

class MixedThread {
 public:
  MixedThread(const LockMix& mix, int mhz, int number, trace::Writer& out)
      : mix_(&mix),
        mhz_(mhz),
        random_(1, static_cast<std::uint64_t>(number), 0),
        out_(&out),
        stream_(out.define(trace::Stream{fmt::format("cpu[{}]", number), number, -1, false})) {}

  void acquisition() {
    compute(mix_->between_us);
    const std::uint32_t lock = drawn();
    out_->append(stream_, {trace::Kind::acquire, 0, 0, lock, 0});
    compute(mix_->locks[lock].hold_us);
    out_->append(stream_, {trace::Kind::release, 0, 0, lock, 0});
  }

 private:
  void compute(double mean_us) { out_->append(stream_, {trace::Kind::compute, 0, 0, 0, cycles(random_, mean_us, mhz_)}); }

  // Draws a lock, in proportion to the acquisitions that are left.
  std::uint32_t drawn() {
    std::int64_t left = 0;
    for (const MixedLock& lock : mix_->locks) left += lock.acquisitions;
    left = static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(left)));
    std::uint32_t lock = 0;
    for (; left >= mix_->locks[lock].acquisitions; ++lock) left -= mix_->locks[lock].acquisitions;
    return lock;
  }

  const LockMix* mix_;
  int mhz_;
  workloads::Random random_;
  trace::Writer* out_;
  std::uint32_t stream_;
};

std::vector<std::string> mix_lacks(const LockMix& mix, int mhz) {
  std::vector<std::string> sentences = {
      fmt::format("Nothing in it was recorded: it is made of {}'s sums over {:g} s of {} CPUs, and shows a mix as if each "
                  "CPU came by chance, all equally often, and held a lock for a time of exponential distribution.",
                  mix.measured.tool, mix.measured.seconds, mix.measured.cpus),
      "What is read and written under a lock is not in it: a hold is as long with another lock, wherever its data are.",
      "Order, bursts, and locks that are taken under others are not in it.",
      fmt::format("{} does not say which locks sleep: those here are taken for spinlocks, and replayed as Linux's qspinlock.",
                  mix.measured.tool),
      fmt::format("{} slows the kernel it measures: holds and waits are shorter without it.", mix.measured.tool),
      fmt::format("Times are cycles of {} MHz: on a machine with another clock, locks are held for another share of the time.",
                  mhz),
  };
  for (std::string& sentence : left_out_sentences(mix)) sentences.push_back(std::move(sentence));
  return sentences;
}

}  // namespace

LockMix lock_mix(const std::vector<LockStatistics>& locks, const MeasuredTime& measured) {
  LockMix mix{measured, {}, {}, 0};
  double left_us = kUsPerS * measured.cpus;  // CPU time that is left in a second, in us, summed over all CPUs
  for (const LockStatistics& lock : locks) {
    if (lock.waits == 0 || *lock.acquisitions == 0) continue;
    MixedLock mixed;
    std::string why = reason_against(lock, measured, mixed);
    if (why.empty() && used_us(mixed) >= left_us) why = "does not fit into the CPUs' time beside the locks before it";
    if (why.empty() && mix.locks.size() == kMostMixed) why = fmt::format("is not among the {} waited for most", kMostMixed);
    if (!why.empty()) {
      mix.left_out.push_back({shown_name(lock), why});
      continue;
    }
    left_us -= used_us(mixed);
    mix.locks.push_back(mixed);
  }
  if (mix.locks.empty()) return mix;
  const double per_s = std::accumulate(mix.locks.begin(), mix.locks.end(), 0.0,
                                       [](double sum, const MixedLock& lock) { return sum + lock.per_s; });
  mix.between_us = left_us / per_s;
  const double rarest =
      std::ranges::min_element(mix.locks, [](const auto& a, const auto& b) { return a.per_s < b.per_s; })->per_s;
  const double all = std::clamp(kOfRarest * per_s / rarest, static_cast<double>(kFewest), static_cast<double>(kMost));
  for (MixedLock& lock : mix.locks) lock.acquisitions = std::max<std::int64_t>(1, std::llround(all * lock.per_s / per_s));
  return mix;
}

std::vector<std::string> left_out_sentences(const LockMix& mix) {
  constexpr std::size_t kMostNamed = 10;
  std::vector<std::string> sentences;
  for (const LeftOutLock& lock : mix.left_out) {
    if (sentences.size() == kMostNamed) break;
    sentences.push_back(fmt::format("{} is left out: it {}.", lock.name, lock.why));
  }
  if (mix.left_out.size() > kMostNamed)
    sentences.push_back(fmt::format("{} more locks that were waited for are left out.", mix.left_out.size() - kMostNamed));
  return sentences;
}

std::vector<std::string> write_lock_mix(const LockMix& mix, int mhz, trace::Writer& out) {
  std::int64_t all = 0;
  for (const MixedLock& mixed : mix.locks) {
    trace::Lock lock;
    lock.name = mixed.name;
    lock.algorithm = "qspinlock";
    out.define(lock);
    all += mixed.acquisitions;
  }
  std::vector<MixedThread> threads;
  for (int cpu = 0; cpu < mix.measured.cpus; ++cpu) threads.emplace_back(mix, mhz, cpu, out);
  // Appends the threads' sections in turns, so that the writer never has to buffer many operations of one thread.
  for (std::int64_t i = 0; i < all; i += mix.measured.cpus) {
    for (MixedThread& thread : threads) thread.acquisition();
  }
  return mix_lacks(mix, mhz);
}

}  // namespace linebounce::sim
