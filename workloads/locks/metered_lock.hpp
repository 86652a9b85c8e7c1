// A lock as a program uses it: an algorithm with a name, whose use is measured and watched. The call site of an acquisition is
// the function that runs on the CPU (FunctionScope).
#pragma once

#include <array>
#include <memory>
#include <string>

#include "workloads/locks/lock.hpp"
#include "workloads/locks/lock_figures.hpp"
#include "workloads/locks/lock_holders.hpp"
#include "workloads/locks/lock_traits.hpp"

namespace linebounce::workloads {

class MeteredLock {
 public:
  MeteredLock(std::string name, const LockTraits& traits, std::unique_ptr<Lock> lock, LockFigures& figures,
              LockHolders& holders)
      : name_(std::move(name)), traits_(traits), lock_(std::move(lock)), figures_(&figures), holders_(&holders) {}

  void acquire(Cpu& cpu) { take(cpu, false); }
  bool try_acquire(Cpu& cpu);
  void release(Cpu& cpu);
  void acquire_shared(Cpu& cpu) { take(cpu, true); }
  // False: begin again with acquire_shared.
  [[nodiscard]] bool release_shared(Cpu& cpu);

  [[nodiscard]] bool held_by(const Cpu& cpu) const { return holders_->holds(cpu, *this); }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const LockTraits& traits() const { return traits_; }
  [[nodiscard]] LockFigures& figures() { return *figures_; }
  // The end of the measured time comes in the middle of this hold.
  void still_held(const Cpu& cpu, const LockHolders::Use& use, Tick end);
  // How much of the measured time it was held; of readers together the sum. REQUIRES: the simulation is over.
  [[nodiscard]] Tick held() const { return held_; }
  // When the latest hold of a writer or a reader ended. REQUIRES: the simulation is over.
  [[nodiscard]] Tick last_release(bool shared) const { return last_release_[shared ? 1 : 0]; }
  // What was inside, if the lock keeps nobody out.
  [[nodiscard]] Sections& sections() { return sections_; }

 private:
  LockHolders::Use end_hold(const Cpu& cpu, bool shared);
  void take(Cpu& cpu, bool shared);

  std::string name_;
  LockTraits traits_;
  std::unique_ptr<Lock> lock_;
  LockFigures* figures_;
  LockHolders* holders_;
  Tick held_ = 0;
  std::array<Tick, 2> last_release_ = {-1, -1};  // of writers, of readers
  Sections sections_;
};

}  // namespace linebounce::workloads
