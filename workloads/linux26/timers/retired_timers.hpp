// Timers that were deleted by marking them (OLS 2007, section 4.5), on their way to the CPU whose base they are still on. Each
// CPU collects them in chains, one per base, and hands a chain over when it is long enough or a tick comes. So one transfer of
// a line serves many timers. A chain is linked through the timers' `expires`, which is no longer needed.
#pragma once

#include <vector>

#include "workloads/linux26/timers/timer.hpp"

namespace linebounce::workloads {

class Kernel;

class RetiredTimers {
 public:
  explicit RetiredTimers(Kernel& kernel);

  // Places the object in which one CPU collects its chains, on that CPU's node.
  void place_for(int cpu);

  // Adds a timer to this CPU's chain for the base of CPU `base`. REQUIRES: interrupts are off.
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
  std::vector<std::vector<Object>> gathered_;  // first index: the collecting CPU; second: the base's CPU
  std::vector<Object> incoming_of_;            // by CPU
};

}  // namespace linebounce::workloads
