// What lockmeter counts of a lock (Bryant, Hawkes: "Lockmeter: Highly-Informative Instrumentation for Spin Locks in the Linux
// Kernel", 2000), by the function that takes it. Times in ticks. It costs no simulated time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "models/core/cpu.hpp"
#include "workloads/locks/races.hpp"

namespace linebounce::workloads {

// Of what began in the measured time; held and waited are what of all holds and waits lies in it. A hold ends where its
// release begins. A wait that is under way at the end, whenever it began, counts as an acquisition that had to wait, with its
// length so far: a waiter that never gets the lock would else leave no trace but its time.
struct LockUse {
  std::int64_t nowait = 0;    // acquisitions at the first attempt
  std::int64_t spin = 0;      // acquisitions that had to wait
  std::int64_t waiting = 0;   // of them, those still under way at the end
  std::int64_t rejected = 0;  // try_acquire() that failed, and readers that had to read again
  std::int64_t holds = 0;     // that have come to an end
  Tick hold_sum = 0, hold_max = 0;
  Tick wait_sum = 0, wait_max = 0;
  Tick held = 0, waited = 0;
  std::int64_t handoffs = 0;  // acquisitions by who had waited, of an exclusive hold
  Tick handoff_sum = 0;       // from the beginning of the release before to the acquisition

  void add(const LockUse& other);
};

// Of one lock, or of all locks that have its name.
class LockFigures {
 public:
  void acquired(const Cpu& cpu, FunctionId call_site, Tick wanted, bool waited);
  void released(const Cpu& cpu, FunctionId call_site, Tick since);
  // Who waited has it now; the hold before ended at `released_at`.
  void handed_off(const Cpu& cpu, FunctionId call_site, Tick released_at);
  void rejected(const Cpu& cpu, FunctionId call_site);
  // The end of the measured time, for what is then still under way.
  void still_held(const Cpu& cpu, FunctionId call_site, Tick since, Tick end);
  void still_waited(const Cpu& cpu, FunctionId call_site, Tick since, Tick end);

  void raced(const Races& races);
  // One of the locks that have its name, which was held so much of the measured time.
  void add_instance(Tick held);

  [[nodiscard]] const std::map<FunctionId, LockUse>& by_call_site() const { return uses_; }
  // How many locks have its name, and how long the one was held that was held most.
  [[nodiscard]] int instances() const { return instances_; }
  [[nodiscard]] Tick most_held() const { return most_held_; }
  // Of a lock that keeps nobody out; none: it does.
  [[nodiscard]] const std::optional<Races>& races() const { return races_; }

 private:
  std::map<FunctionId, LockUse> uses_;
  int instances_ = 0;
  Tick most_held_ = 0;
  std::optional<Races> races_;
};

}  // namespace linebounce::workloads
