// Timers that were deleted by marking them (OLS 2007, section 4.5), on their way to the CPU whose base they are still on. Each
// CPU collects them by base, in chains of its own, and hands a chain over when it is long enough or a tick comes: one transfer
// of a line for many timers. A chain is linked through the timers' `expires`, which is no longer needed.
#pragma once

#include <vector>

#include "workloads/linux26/timers/timer.hpp"

namespace linebounce::workloads {

class Kernel;

class RetiredTimers {
 public:
  explicit RetiredTimers(Kernel& kernel);

  // Places what one CPU collects near it, after an object of its own.
  void place_for(int cpu);

  // Adds a timer of the base of CPU `base` to this CPU's chains. REQUIRES: interrupts are off.
  void add(Cpu& cpu, const Timer& timer, int base);
  // Hands over all chains of this CPU. REQUIRES: interrupts are off.
  void hand_off(Cpu& cpu);
  // Removes and returns the first timer that was handed over to this CPU; 0 if there is none.
  Value take(Cpu& cpu);

 private:
  static constexpr Value kBatch = 16;  // a chain of this many timers is handed over

  void hand_off(Cpu& cpu, int base);
  [[nodiscard]] const Object& gathered(const Cpu& cpu, int base) const;

  Kernel& kernel_;
  FieldPlace first_, last_link_, count_, incoming_;
  std::vector<std::vector<Object>> gathered_;  // by CPU and the base's CPU
  std::vector<Object> incoming_of_;            // by CPU
};

}  // namespace linebounce::workloads
