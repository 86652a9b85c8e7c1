// The processor's time stamp counter, in which the recorded program measures how long it computes.
#pragma once

#include <x86intrin.h>

#include <chrono>
#include <cstdint>

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

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point began_ = Clock::now();
  std::uint64_t ticks_ = __rdtsc();
  double rate_ = 0;
};

}  // namespace linebounce::record
