// Timers that were deleted by marking them (OLS 2007, section 4.5): on their way to the CPU whose base they are still on. Each
// CPU gathers those of every base in a chain of its own, and hands a chain over when it is long enough or a tick comes: one
// transfer of a line for many timers. A chain goes through the timers' `expires`, which has no use any more.
#pragma once

#include <vector>

#include "workloads/linux26/timers/timer.hpp"

namespace linebounce::workloads {

class Kernel;

class RetiredTimers {
 public:
  explicit RetiredTimers(const Kernel& kernel);

  // What one CPU has gathered is placed near it, behind an object of its own.
  void place_for(int cpu);

  // The timer, of the base of CPU `base`, joins those that this CPU has gathered. REQUIRES: interrupts are off.
  void add(Cpu& cpu, const Timer& timer, int base);
  // Hands over whatever this CPU has gathered. REQUIRES: as above.
  void hand_off(Cpu& cpu);
  // The first of those that were handed over to this CPU, which leave; 0: there are none.
  Value take(Cpu& cpu);

 private:
  static constexpr Value kBatch = 16;  // timers of one base that are handed over at the latest

  void hand_off(Cpu& cpu, int base);
  [[nodiscard]] const Object& gathered(const Cpu& cpu, int base) const;

  const Kernel& kernel_;
  FieldPlace first_, last_link_, count_, incoming_;
  std::vector<std::vector<Object>> gathered_;  // by CPU and the base's CPU
  std::vector<Object> incoming_of_;            // by CPU
};

}  // namespace linebounce::workloads
