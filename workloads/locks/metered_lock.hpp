// A lock as programs use it: a Lock with a name. It measures each use, and checks for mistakes of the program (LockHolders) and
// of the lock (ExclusionCheck). The call site of an acquisition is the function that the CPU is running (FunctionScope).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "workloads/locks/exclusion_check.hpp"
#include "workloads/locks/lock.hpp"
#include "workloads/locks/lock_figures.hpp"
#include "workloads/locks/lock_holders.hpp"
#include "workloads/locks/lock_traits.hpp"

namespace linebounce::workloads {

class MeteredLock {
 public:
  // `algorithm`: as for ExclusionCheck.
  MeteredLock(std::string name, std::string algorithm, const LockTraits& traits, std::unique_ptr<Lock> lock,
              LockFigures& figures, LockHolders& holders)
      : name_(std::move(name)),
        traits_(traits),
        lock_(std::move(lock)),
        figures_(&figures),
        holders_(&holders),
        exclusion_(std::move(algorithm), traits, holders) {}

  void acquire(Cpu& cpu) { take(cpu, false); }
  bool try_acquire(Cpu& cpu);
  // Retries try_acquire() until it succeeds. Counts one acquisition, and the failed tries as rejected. Calls `again` after each
  // failed try; if that returns false, stops retrying and waits. Returns false, without the lock, if no further try could
  // succeed (LockHolders::is_stuck). Waits from the start if the lock has no try_acquire(), or if `shared`.
  bool acquire_by_tries(Cpu& cpu, bool shared, const std::function<bool()>& again);
  void release(Cpu& cpu);
  void acquire_shared(Cpu& cpu) { take(cpu, true); }
  // Returns false if the caller must begin again with acquire_shared().
  [[nodiscard]] bool release_shared(Cpu& cpu);

  [[nodiscard]] bool held_by(const Cpu& cpu) const { return holders_->holds(cpu, *this); }
  // True if the CPU holds any lock of the same LockSet.
  [[nodiscard]] bool is_nested(const Cpu& cpu) const { return !holders_->held(cpu.id().value).empty(); }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const LockTraits& traits() const { return traits_; }
  [[nodiscard]] LockFigures& figures() { return *figures_; }
  // Counts a hold that lasts beyond the measured time, which ends at `end`.
  void still_held(const Cpu& cpu, const LockHolders::Use& use, Tick end);
  // The total of all holds' parts in the measured time. Overlapping holds of readers count separately. REQUIRES: the simulation
  // is over.
  [[nodiscard]] Tick held() const { return held_; }
  // When the latest hold of a reader (`shared`) or a writer ended; -1: none has. REQUIRES: the simulation is over.
  [[nodiscard]] Tick last_release(bool shared) const { return exclusion_.last_release(shared); }
  // The sections under a lock that excludes nobody. Empty for any other lock.
  [[nodiscard]] Sections& sections() { return sections_; }

 private:
  void begin_hold(Cpu& cpu, FunctionId call_site, bool shared);
  LockHolders::Use end_hold(const Cpu& cpu, bool shared);
  void take(Cpu& cpu, bool shared);
  void took(Cpu& cpu, const LockHolders::Use& wanted, bool waited);

  std::string name_;
  LockTraits traits_;
  std::unique_ptr<Lock> lock_;
  LockFigures* figures_;
  LockHolders* holders_;
  Tick held_ = 0;
  ExclusionCheck exclusion_;
  Sections sections_;
};

}  // namespace linebounce::workloads
