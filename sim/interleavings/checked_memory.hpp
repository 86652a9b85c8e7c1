// Memory as the lock checker's CPUs see it: words, and for each CPU a store buffer under tso and ia64. There are no caches and
// there is no time; the search chooses the order of events.
//
// Under ia64 a store may overtake earlier stores to other bytes unless it releases. (The simulated store buffers are stricter:
// they keep the order within an aligned word of 8 bytes.) Loads run in program order, as in the simulated cores.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "models/machine_spec.hpp"
#include "models/memory/line_store.hpp"
#include "models/units.hpp"

namespace linebounce::sim {

// A state's hash. It has 128 bits, so that different states practically never share one.
struct Digest {
  std::uint64_t high = 0x243f6a8885a308d3, low = 0x13198a2e03707344;
  void add(std::uint64_t value);
  friend bool operator==(const Digest&, const Digest&) = default;
};

class CheckedMemory {
 public:
  // `initial`: the initial values of the words.
  CheckedMemory(LineStore& initial, int cpus, Consistency consistency);

  struct Store {
    Address address = 0;
    int bytes = 8;
    Value value = 0;
    bool release = false;
  };

  [[nodiscard]] Consistency consistency() const { return consistency_; }

  // The value that this CPU sees: its own buffered stores come before memory.
  [[nodiscard]] Value load(int cpu, Address address, int bytes) const;
  // True if a core could execute the load now. If the newest buffered store to any of its bytes does not cover all of them, the
  // load must wait until that store has drained, as in models/core/store_buffer.hpp.
  [[nodiscard]] bool can_load(int cpu, Address address, int bytes) const;
  // Stores into the CPU's buffer, or directly into memory if there is none.
  void store(int cpu, const Store& store);
  // REQUIRES: is_drained(cpu).
  void write(const Store& store);
  [[nodiscard]] bool is_drained(int cpu) const { return buffers_[cpu].empty(); }
  // Positions in the buffer of the stores that may drain next; 0 is the oldest.
  [[nodiscard]] std::vector<int> drainable(int cpu) const;
  // Drains one of them.
  Store drain(int cpu, int place);

  void add_to(Digest& digest) const;

  // For display: a CPU's buffer, the oldest store first; all words ever written, by address; and memory.
  [[nodiscard]] const std::deque<Store>& buffer(int cpu) const { return buffers_[cpu]; }
  [[nodiscard]] const std::vector<std::pair<Address, int>>& written() const { return written_; }
  [[nodiscard]] Value in_memory(Address address, int bytes) const;

 private:
  [[nodiscard]] std::byte* place(Address address) const;

  LineStore* memory_;
  Consistency consistency_;
  std::vector<std::deque<Store>> buffers_;        // by CPU; the oldest store first
  std::vector<std::pair<Address, int>> written_;  // all words ever written, which the digest covers
};

}  // namespace linebounce::sim
