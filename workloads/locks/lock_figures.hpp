// Lock statistics per function that takes the lock, as Lockmeter collects them (Bryant, Hawkes: "Lockmeter: Highly-Informative
// Instrumentation for Spin Locks in the Linux Kernel", 2000). Collecting them costs no simulated time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "models/core/cpu.hpp"
#include "workloads/locks/races.hpp"

namespace linebounce::workloads {

// The statistics of one call site. They cover holds and waits that began in the measured time. Only `held` and `waited` cover
// all holds and waits, each with the part that lies in the measured time. A hold ends when its release begins. A wait that
// lasts beyond the measured time counts as an acquisition that had to wait, with its length so far, even if it began before the
// measured time. Otherwise a waiter that never gets the lock would be missing from the counts.
struct LockUse {
  std::int64_t nowait = 0;    // acquisitions that succeeded at once
  std::int64_t spin = 0;      // acquisitions that had to wait
  std::int64_t waiting = 0;   // the part of `spin` that was still waiting at the end
  std::int64_t rejected = 0;  // failed calls of try_acquire(), and readers that had to read again
  std::int64_t holds = 0;     // holds that have ended
  Tick hold_sum = 0, hold_max = 0;
  Tick wait_sum = 0, wait_max = 0;
  Tick held = 0, waited = 0;
  std::int64_t handoffs = 0;         // exclusive acquisitions that had to wait for another CPU's release
  Tick handoff_sum = 0;              // sum of the times from the start of that release to the acquisition
  std::int64_t remote_handoffs = 0;  // those of `handoffs` that came from a CPU of another node
  Tick remote_handoff_sum = 0;

  void add(const LockUse& other);
};

// The statistics of one lock, or the total of all locks with the same name.
class LockFigures {
 public:
  void acquired(const Cpu& cpu, FunctionId call_site, Tick wanted, bool waited);
  void released(const Cpu& cpu, FunctionId call_site, Tick since);
  // `cpu` has waited and now has the lock. The previous hold ended at `released_at`, on another node if `remote`.
  void handed_off(const Cpu& cpu, FunctionId call_site, Tick released_at, bool remote);
  void rejected(const Cpu& cpu, FunctionId call_site);
  // Count a hold or a wait that lasts beyond the measured time, which ends at `end`.
  void still_held(const Cpu& cpu, FunctionId call_site, Tick since, Tick end);
  void still_waited(const Cpu& cpu, FunctionId call_site, Tick since, Tick end);

  void raced(const Races& races);
  // Counts a lock with this name that was held for `held` ticks of the measured time.
  void add_instance(Tick held);

  [[nodiscard]] const std::map<FunctionId, LockUse>& by_call_site() const { return uses_; }
  // instances() is the number of locks with this name. most_held() is the largest time, in ticks, for which one of them was
  // held.
  [[nodiscard]] int instances() const { return instances_; }
  [[nodiscard]] Tick most_held() const { return most_held_; }
  // The races of a lock that excludes nobody; empty for any other lock.
  [[nodiscard]] const std::optional<Races>& races() const { return races_; }

 private:
  std::map<FunctionId, LockUse> uses_;
  int instances_ = 0;
  Tick most_held_ = 0;
  std::optional<Races> races_;
};

}  // namespace linebounce::workloads
