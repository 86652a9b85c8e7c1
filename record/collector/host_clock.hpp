// The processor's time stamp counter, in which the recorded program measures how long it computes.
#pragma once

#include <x86intrin.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>

namespace linebounce::record {

class HostClock {
 public:
  // Compares the counter with the system's clock, from the construction on for at least 5 ms.
  double ticks_of_ns() {
    constexpr std::chrono::milliseconds kLongEnough{5};
    while (rate_ == 0) {
      const auto passed = Clock::now() - began_;
      if (passed < kLongEnough) continue;
      const std::chrono::duration<double, std::nano> ns = passed;
      rate_ = static_cast<double>(__rdtsc() - ticks_) / ns.count();
    }
    return rate_;
  }

  // The core's cycles in a tick of the counter, which runs at a clock of its own.
  double cycles_of_tick() {
    if (cycles_ == 0) cycles_ = measured_cycles();
    return cycles_;
  }

 private:
  using Clock = std::chrono::steady_clock;

  // Times multiplications that wait for each other: three cycles each on all x86-64 processors of the last ten years. The
  // fastest of some tries, because others disturb the rest.
  static double measured_cycles() {
    constexpr int kTries = 200, kRounds = 100, kOfRound = 4, kCycles = 3;
    auto fewest = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t number = 3;
    for (int i = 0; i < kTries; ++i) {
      const std::uint64_t began = __rdtsc();
      for (int round = 0; round < kRounds; ++round)
        __asm__ volatile("imul %0, %0\n\timul %0, %0\n\timul %0, %0\n\timul %0, %0" : "+r"(number));
      fewest = std::min<std::uint64_t>(fewest, __rdtsc() - began);
    }
    return double{kRounds * kOfRound * kCycles} / static_cast<double>(fewest);
  }

  Clock::time_point began_ = Clock::now();
  std::uint64_t ticks_ = __rdtsc();
  double rate_ = 0, cycles_ = 0;
};

}  // namespace linebounce::record
