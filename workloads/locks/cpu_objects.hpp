// What locks keep for every CPU beside their own words: one set for all locks of a run, so that thousands of locks cost no more
// of it than one. Placed near its CPU.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "models/core/cpu.hpp"
#include "models/machine_layout.hpp"
#include "workloads/program/address_space.hpp"

namespace linebounce::workloads {

// Queue nodes that are free, by CPU: what a CPU takes, only its own program and handlers take, as from its stack.
class QueueNodes {
 public:
  // Errors of take(): ModelFailure, if the CPU has no node left.
  Address take(const Cpu& cpu);
  void give(const Cpu& cpu, Address node) { free_[static_cast<std::size_t>(cpu.id().value)].push_back(node); }

 private:
  friend class CpuObjects;
  std::vector<std::vector<Address>> free_;  // by CPU, the next one last
};

class CpuObjects {
 public:
  // So many locks of a kind may one CPU hold and await at once, its interrupt handlers included.
  static constexpr int kNodesOfCpu = 16;

  // `places`: where the CPUs are; empty: objects go where the machine's policy puts them.
  CpuObjects(AddressSpace& memory, int cpus, std::vector<CpuPlace> places)
      : memory_(&memory), cpus_(cpus), places_(std::move(places)) {}

  [[nodiscard]] int cpus() const { return cpus_; }
  [[nodiscard]] const std::vector<CpuPlace>& places() const { return places_; }

  // A new object on lines of its own near this CPU.
  Address place(const Layout& layout, const std::string& name, int cpu);
  // By CPU, one object of this layout: the same for all who ask. Its name is the layout's. / Nodes of this layout, shared
  // alike. REQUIRES of all: the simulation has not started.
  const std::vector<Address>& shared(const Layout& layout);
  QueueNodes& nodes(const Layout& layout);

  // What `make` returns to whoever asks first: all locks of this run with the same key share it.
  template <class Shared, class Make>
  Shared& kept(const std::string& key, Make make) {
    std::shared_ptr<void>& known = kept_[key];
    if (!known) known = make();
    return *static_cast<Shared*>(known.get());
  }

 private:
  AddressSpace* memory_;
  int cpus_;
  std::vector<CpuPlace> places_;
  std::map<std::string, std::vector<Address>> shared_;  // by the layout's name
  std::map<std::string, QueueNodes> nodes_;
  std::map<std::string, std::shared_ptr<void>> kept_;
};

}  // namespace linebounce::workloads
