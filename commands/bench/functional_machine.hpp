// The baseline for timed simulations: the same caches, values and protocol, without time and statistics.
#pragma once

#include <utility>
#include <vector>

#include "models/cache/cache_agent.hpp"
#include "models/coherence/bus_order.hpp"
#include "models/machine_spec.hpp"

namespace linebounce::sim {

class FunctionalMachine {
 public:
  FunctionalMachine(const MachineSpec& spec, const Protocol& protocol);

  [[nodiscard]] LineStore& store() { return store_; }

  // One CPU; has the interface that a ReferenceStream uses.
  class Processor {
   public:
    Processor(FunctionalMachine& machine, int number) : machine_(machine), number_(number) {}
    Value load(Address address) {
      Copy& copy = machine_.access(number_, address, kReadAccess);
      return read_word(machine_.word(number_, copy, address), 8);
    }
    void store(Address address, Value value) { write(machine_.access(number_, address, kWriteAccess), address, value); }
    Value fetch_add(Address address, Value addend) {
      Copy& copy = machine_.access(number_, address, kWriteAccess);
      const Value old = read_word(machine_.word(number_, copy, address), 8);
      write(copy, address, old + addend);
      return old;
    }

   private:
    void write(Copy& copy, Address address, Value value) {
      write_word(machine_.word(number_, copy, address), 8, value);
      copy.version = machine_.store_.next_version(copy.slot);
      if (!machine_.word_takers_.empty()) machine_.apply_word(copy.version, address, value);
    }
    FunctionalMachine& machine_;
    int number_;
  };

 private:
  class Line;
  struct Gate;

  Copy& access(int cpu, Address address, Access access) {
    ++age_;
    CacheAgent& agent = agents_[cpu];
    Copy* copy = agent.hit(address, access, age_);
    if (copy == nullptr) copy = &access_slowly(cpu, address, access);
    if (!agent.is_latest(*copy)) stale();
    return *copy;
  }
  [[nodiscard]] std::byte* word(int cpu, Copy& copy, Address address) const {
    return agents_[cpu].data(copy) + store_.offset_of(address);
  }
  Copy& access_slowly(int cpu, Address address, Access access);
  void transact(int cpu, LineAddr line, MessageId message);
  // Copies the stored word into the copies that the order step marked (word_takers_).
  void apply_word(Version version, Address address, Value value);
  [[noreturn]] static void stale();

  LineStore store_;
  const Protocol& protocol_;
  std::vector<CacheAgent> agents_;
  std::vector<Copy*> found_;
  std::vector<int> holders_;
  // Copies that will receive the word under an update protocol. Set in a store's order step, cleared by the store.
  std::vector<std::pair<int, Copy*>> word_takers_;
  Tick age_ = 0;
};

}  // namespace linebounce::sim
