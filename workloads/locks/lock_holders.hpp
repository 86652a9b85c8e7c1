// Who holds and who awaits which lock, by the programs' own order: finds a lock taken twice by one CPU, one released that is
// not held, and CPUs that wait for each other. Errors: LockMisuse.
//
// A program's order is enough, no time is needed: who waits can't release, and who holds hasn't begun to release.
#pragma once

#include <string>
#include <vector>

#include "models/core/cpu.hpp"
#include "models/failure.hpp"
#include "workloads/program/address_space.hpp"

namespace linebounce::workloads {

class MeteredLock;

// what() has holders and call sites.
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
  };

  LockHolders(const AddressSpace& memory, int cpus)
      : memory_(&memory), held_(static_cast<std::size_t>(cpus)), awaited_(static_cast<std::size_t>(cpus)) {}

  // Around an acquisition that may wait. / What is held from now on.
  void begins_to_wait(const Cpu& cpu, const Use& wanted);
  void ends_to_wait(const Cpu& cpu) { awaited_[index(cpu)].pop_back(); }
  void acquired(const Cpu& cpu, const Use& taken);
  // Returns how it was taken.
  Use released(const Cpu& cpu, const MeteredLock& lock, bool shared);

  [[nodiscard]] bool holds(const Cpu& cpu, const MeteredLock& lock) const;
  // Whether another CPU has been in the way of what this one awaits. Else it is just being taken.
  [[nodiscard]] bool is_kept_waiting(int cpu, const Use& wanted) const;
  [[nodiscard]] const std::vector<Use>& held(int cpu) const { return held_[static_cast<std::size_t>(cpu)]; }
  [[nodiscard]] const std::vector<Use>& awaited(int cpu) const { return awaited_[static_cast<std::size_t>(cpu)]; }
  // Every lock that is held or awaited, a line each; empty if none is.
  [[nodiscard]] std::string describe() const;

 private:
  static std::size_t index(const Cpu& cpu) { return static_cast<std::size_t>(cpu.id().value); }
  [[nodiscard]] bool find_cycle(int cpu, int begin, std::vector<int>& path) const;
  [[nodiscard]] std::string text(int cpu, const char* does, const char* where, const Use& use) const;

  const AddressSpace* memory_;
  std::vector<std::vector<Use>> held_;     // by CPU, in the order of taking
  std::vector<std::vector<Use>> awaited_;  // by CPU; an interrupt's handler may wait while its CPU does
};

}  // namespace linebounce::workloads
