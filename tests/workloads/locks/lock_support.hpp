// The properties of locks as checks that any lock can run through, including deliberately broken ones.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/failure.hpp"
#include "tests/models/support/small_machine.hpp"
#include "workloads/locks/lock_registry.hpp"
#include "workloads/locks/locks.hpp"
#include "workloads/program/address_space.hpp"
#include "workloads/program/barrier.hpp"

namespace linebounce::test {

using namespace workloads;

constexpr int kCpus = 4;
// Cycles outside the section are 0 to 15 times one of these, so the lock is contended at first and often free later.
constexpr std::array<int, 3> kOutside = {37, 151, 401};
constexpr int kRoundsEach = 40;

using LockFactory = std::function<std::unique_ptr<Lock>(const LockPlace&)>;

inline LockFactory factory_of(const std::string& name) {
  return find_lock(name).create;
}

// Machines with different orderings.
inline const std::map<std::string, std::function<MachineSpec()>>& machines() {
  const auto buffered = [](Consistency consistency) {
    MachineSpec spec = small_machine(kCpus);
    spec.cpu.consistency = consistency;
    spec.cpu.store_buffer_entries = 16;
    spec.cpu.outstanding_misses = 2;  // delays stores
    return spec;
  };
  static const std::map<std::string, std::function<MachineSpec()>> kMachines = {
      {"sc", [] { return small_machine(kCpus); }},
      {"tso", [buffered] { return buffered(Consistency::tso); }},
      {"ia64", [buffered] { return buffered(Consistency::ia64); }},
      {"hardware_threads",
       [buffered] {
         MachineSpec spec = buffered(Consistency::tso);
         spec.cpu.threads_per_core = 2;
         return spec;
       }},
      {"nodes",
       [] {
         MachineSpec spec = small_nodes(2, kCpus);
         spec.cpu.consistency = Consistency::ia64;
         spec.cpu.store_buffer_entries = 16;
         return spec;
       }},
  };
  return kMachines;
}

// A machine with one lock.
struct LockedMachine {
  LockedMachine(const LockFactory& make, const MachineSpec& spec)
      : small(spec),
        space(small.machine.store()),
        per_cpu(space, spec.cpus, small.machine.layout().cpus),
        lock(make({.memory = space, .per_cpu = per_cpu, .name = "lock", .word = {}, .waits_in = {}})) {}

  SmallMachine small;
  AddressSpace space;
  CpuObjects per_cpu;
  std::unique_ptr<Lock> lock;
};

struct Stay {
  double from, to;
  bool reads;
};

inline bool overlap(const Stay& a, const Stay& b) {
  return a.from < b.to && b.from < a.to;
}

// The exclusion that these stays violate; empty if they violate none.
inline std::string wrong_stays(const std::vector<Stay>& stays) {
  for (std::size_t i = 0; i < stays.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      if (!overlap(stays[i], stays[k]) || (stays[i].reads && stays[k].reads)) continue;
      return stays[i].reads || stays[k].reads ? "a reader and a writer were inside together"
                                              : "two writers were inside together";
    }
  }
  return "";
}

// The data under a lock: a number on several lines. A writer increments it on all lines at the end of its section, without
// loading them before, so that its stores are late; a reader begins with the line that was written last.
class GuardedNumber {
 public:
  explicit GuardedNumber(AddressSpace& space) : begin_(space.place_array("data", kLines * kLineBytes)) {}

  [[nodiscard]] Value load_first(Cpu& cpu) const { return cpu.load(begin_); }
  void store(Cpu& cpu, Value value) const {
    for (int line = 0; line < kLines; ++line) cpu.store(word(line), value);
  }
  // The number; nullopt if the lines differ.
  [[nodiscard]] std::optional<Value> load(Cpu& cpu) const {
    const Value last = cpu.load(word(kLines - 1));
    bool whole = true;
    for (int line = kLines - 2; line >= 0; --line) {
      const Value value = cpu.load(word(line));
      whole = whole && value == last;
    }
    return whole ? std::optional(last) : std::nullopt;
  }

 private:
  static constexpr int kLines = 8;  // more than a CPU's outstanding misses, so the last stores wait for the first
  static constexpr int kLineBytes = 32;
  [[nodiscard]] Address word(int line) const { return begin_ + static_cast<Address>(line) * kLineBytes; }
  Address begin_;
};

// A trial of a lock: each CPU's sections, of which `readers` in ten only read, and the violations found.
class Trial {
 public:
  Trial(LockedMachine& locked, int readers)
      : lock_(*locked.lock), data_(locked.space), end_(locked.space, "end", kCpus), readers_(readers), writes_(kCpus) {}

  void run(Cpu& cpu) {
    const int me = cpu.id().value;
    for (int round = 0; round < kRoundsEach * static_cast<int>(kOutside.size()); ++round) {
      if ((7 * round + 3 * me) % 10 < readers_) {
        read(cpu);
      } else {
        write(cpu);
      }
      cpu.compute(kOutside.at(static_cast<std::size_t>(round / kRoundsEach)) * ((7 * round + 3 * me) % 16));
    }
    end_.wait(cpu);
    Value expected = 0;
    for (const Value own : writes_) expected += own;
    if (data_.load(cpu) != expected) broken_.push_back("increments under the lock were lost");
  }
  [[nodiscard]] std::string broken() const { return broken_.empty() ? wrong_stays(stays_) : broken_.front(); }

 private:
  void read(Cpu& cpu) {
    Stay stay{0, 0, true};
    std::optional<Value> found;
    do {
      lock_.acquire_shared(cpu);
      stay.from = cpu.now_ns();
      found = data_.load(cpu);
      stay.to = cpu.now_ns();
    } while (!lock_.release_shared(cpu));
    if (!found) broken_.push_back("a reader has seen half of a writer's data");
    stays_.push_back(stay);
  }
  void write(Cpu& cpu) {
    lock_.acquire(cpu);
    const double from = cpu.now_ns();
    const Value value = data_.load_first(cpu);
    cpu.compute(20);
    data_.store(cpu, value + 1);
    const double to = cpu.now_ns();
    lock_.release(cpu);
    stays_.push_back({from, to, false});
    ++writes_[static_cast<std::size_t>(cpu.id().value)];
  }

  Lock& lock_;
  GuardedNumber data_;
  Barrier end_;
  int readers_;
  std::vector<Value> writes_;  // by CPU
  std::vector<Stay> stays_;
  std::vector<std::string> broken_;
};

// All CPUs use a lock. Returns the broken property; empty if none. A lost wake-up shows as a deadlock.
inline std::string broken_property(const LockFactory& make, const MachineSpec& spec, int readers = 0) {
  LockedMachine locked(make, spec);
  Trial trial(locked, readers);
  try {
    locked.small.run(std::vector<Core::Program>(kCpus, [&trial](Cpu& cpu) { trial.run(cpu); }));
  } catch (const ModelFailure& failure) {
    return failure.what();
  }
  return trial.broken();
}

// CPU 0 holds the lock for long, three times; the others come 500 ns apart, each time in another order. Returns whether they
// were served in that order.
inline bool serves_in_order(const LockFactory& make) {
  LockedMachine locked(make, small_machine(kCpus));
  const std::vector<std::vector<int>> arrivals = {{0, 3, 2, 1}, {0, 1, 2, 3}, {0, 2, 3, 1}};
  std::vector<std::vector<int>> served(arrivals.size());
  const Core::Program program = [&](Cpu& cpu) {
    const int me = cpu.id().value;
    for (std::size_t round = 0; round < arrivals.size(); ++round) {
      const auto place = std::find(arrivals[round].begin(), arrivals[round].end(), me) - arrivals[round].begin();
      wait_until(cpu, 20000 * static_cast<double>(round) + 500 * static_cast<double>(place));
      locked.lock->acquire(cpu);
      served[round].push_back(me);
      cpu.compute(me == 0 ? 5000 : 10);
      locked.lock->release(cpu);
    }
  };
  locked.small.run(std::vector<Core::Program>(kCpus, program));
  return served == arrivals;
}

}  // namespace linebounce::test
