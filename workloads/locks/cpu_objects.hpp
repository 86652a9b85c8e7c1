// Per-CPU objects that locks need besides their own words; each has its home on its CPU's node. All locks of a run share them,
// so thousands of locks need no more of these objects than a single lock does.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/core/cpu.hpp"
#include "models/machine_layout.hpp"
#include "workloads/program/address_space.hpp"

namespace linebounce::workloads {

// The free queue nodes of each CPU. Only the CPU's own program and interrupt handlers take and give them.
class QueueNodes {
 public:
  // Errors: take() throws ModelFailure if the CPU has no free node.
  Address take(const Cpu& cpu);
  void give(const Cpu& cpu, Address node) { free_[static_cast<std::size_t>(cpu.id().value)].push_back(node); }

 private:
  friend class CpuObjects;
  std::vector<std::vector<Address>> free_;  // each CPU's free nodes; take() takes the last
};

// Replaces what a lock leaves to chance: random numbers, and whether a weak compare-exchange fails for no reason.
class Draws {
 public:
  virtual ~Draws() = default;
  // Returns a number from 0 to bound - 1 for this CPU.
  virtual std::uint64_t below(Cpu& cpu, std::uint64_t bound) = 0;
  // Returns the value found if it fails, which may be `expected`; nothing if it succeeds.
  virtual std::optional<Value> compare_exchange_weak(Cpu& cpu, Address address, Value expected, Value desired, int bytes) = 0;
  // Notes that one of LockEntry::operations has run.
  virtual void ran(int operation) = 0;
};

class CpuObjects {
 public:
  // The number of queue locks of one kind that a CPU, including its interrupt handlers, may hold or wait for at the same time.
  static constexpr int kNodesOfCpu = 16;
  static constexpr std::uint64_t kDefaultSeed = 1;  // as of an experiment

  // `places` says which node each CPU is in. If it is empty, the machine's policy homes the objects.
  CpuObjects(AddressSpace& memory, int cpus, std::vector<CpuPlace> places, std::uint64_t seed = kDefaultSeed)
      : memory_(&memory), cpus_(cpus), places_(std::move(places)), seed_(seed) {}

  [[nodiscard]] int cpus() const { return cpus_; }
  [[nodiscard]] const std::vector<CpuPlace>& places() const { return places_; }
  // The run's seed, for locks and counters that draw random numbers.
  [[nodiscard]] std::uint64_t seed() const { return seed_; }

  // The source that replaces random draws. Null, the usual case: locks draw random numbers. REQUIRES for draw_by(): no lock has
  // been created yet.
  [[nodiscard]] Draws* draws() const { return draws_; }
  void draw_by(Draws& draws) { draws_ = &draws; }

  // Places a new object on a separate line, homed at the CPU's node.
  Address place(const Layout& layout, const std::string& name, int cpu);
  // shared() returns one object of this layout for each CPU; nodes() returns queue nodes of this layout. The first call places
  // them under the layout's name. Later calls with a layout of that name return the same ones. REQUIRES, as for place(): the
  // simulation has not started.
  const std::vector<Address>& shared(const Layout& layout);
  QueueNodes& nodes(const Layout& layout);

  // The first call with `key` creates the object with make(); later calls return that object. All locks of this run share it.
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
  std::uint64_t seed_;
  Draws* draws_ = nullptr;
  std::map<std::string, std::vector<Address>> shared_;  // keyed by the layout's name
  std::map<std::string, QueueNodes> nodes_;
  std::map<std::string, std::shared_ptr<void>> kept_;
};

}  // namespace linebounce::workloads
