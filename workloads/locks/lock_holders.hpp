// Tracks which CPU holds and awaits which lock. Detects three mistakes: a CPU acquires a lock that it holds, a CPU releases a
// lock that it does not hold, and CPUs wait for each other's locks (unless one of them only tries). Errors: LockMisuse.
//
// The order in which the host runs the programs is enough to detect a deadlock, without simulated time: a CPU that waits can't
// release a lock, and a CPU that is recorded as holder hasn't begun to release.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "models/core/cpu.hpp"
#include "models/failure.hpp"
#include "models/machine_layout.hpp"
#include "workloads/program/address_space.hpp"

namespace linebounce::workloads {

class MeteredLock;

// The message names the holders and call sites.
class LockMisuse : public ModelFailure {
 public:
  using ModelFailure::ModelFailure;
};

class LockHolders {
 public:
  struct Use {
    MeteredLock* lock;
    FunctionId call_site;
    Tick since;
    bool shared;
    bool by_tries = false;  // of a wait: the CPU retries try_acquire(), and can give up
  };

  // `places` says which node each CPU is in; if it is empty, all are in one.
  LockHolders(const AddressSpace& memory, int cpus, std::vector<CpuPlace> places = {})
      : memory_(&memory),
        places_(std::move(places)),
        held_(static_cast<std::size_t>(cpus)),
        awaited_(static_cast<std::size_t>(cpus)) {}

  // MeteredLock calls begins_to_wait() and ends_to_wait() around an acquisition that may wait, and then acquired().
  void begins_to_wait(const Cpu& cpu, const Use& wanted);
  // The same for a CPU that retries try_acquire() until it has the lock. is_stuck() returns true if it never will.
  void begins_to_try(const Cpu& cpu, const Use& wanted) { awaited_[index(cpu)].push_back(wanted); }
  // True if `cpu` waits for a lock that it holds itself, or for CPUs that wait for a lock that it holds.
  [[nodiscard]] bool is_stuck(const Cpu& cpu) const;
  void ends_to_wait(const Cpu& cpu) { awaited_[index(cpu)].pop_back(); }
  void acquired(const Cpu& cpu, const Use& taken);
  // Removes the hold, and returns it.
  Use released(const Cpu& cpu, const MeteredLock& lock, bool shared);

  [[nodiscard]] bool holds(const Cpu& cpu, const MeteredLock& lock) const;
  // True if another CPU's hold has kept this CPU waiting; that hold may have ended meanwhile. False: the CPU is just taking a
  // free lock.
  [[nodiscard]] bool is_kept_waiting(int cpu, const Use& wanted) const;
  [[nodiscard]] const std::vector<Use>& held(int cpu) const { return held_[static_cast<std::size_t>(cpu)]; }
  [[nodiscard]] const std::vector<Use>& awaited(int cpu) const { return awaited_[static_cast<std::size_t>(cpu)]; }
  [[nodiscard]] int cpus() const { return static_cast<int>(held_.size()); }
  [[nodiscard]] bool share_node(CpuId one, CpuId other) const {
    const auto node_of = [this](CpuId cpu) { return places_[static_cast<std::size_t>(cpu.value)].os_node; };
    return places_.empty() || node_of(one) == node_of(other);
  }
  [[nodiscard]] const std::string& name_of(FunctionId function) const { return memory_->functions()[function].name; }
  // Returns a line for each lock that a CPU holds or awaits.
  [[nodiscard]] std::string describe() const;

 private:
  static std::size_t index(const Cpu& cpu) { return static_cast<std::size_t>(cpu.id().value); }
  [[nodiscard]] bool find_cycle(int cpu, int begin, std::vector<int>& path) const;
  [[nodiscard]] std::string holder_text(const MeteredLock& lock) const;
  [[nodiscard]] std::string text(int cpu, const char* does, const char* where, const Use& use) const;

  const AddressSpace* memory_;
  std::vector<CpuPlace> places_;
  std::vector<std::vector<Use>> held_;     // each CPU's holds, the latest last
  std::vector<std::vector<Use>> awaited_;  // each CPU's waits, the latest last; an interrupt handler may wait during a wait
};

}  // namespace linebounce::workloads
