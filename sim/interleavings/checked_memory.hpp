// Memory as the lock checker's CPUs see it: words and, under tso and ia64, a store buffer for each CPU. There are no caches and
// no time: the search chooses the order of events. Under ia64 a store may overtake earlier ones to other bytes unless it
// releases (simulated store buffers also keep the order within an aligned word of 8 bytes). Loads run in the program's order,
// as in the simulated cores.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "models/machine_spec.hpp"
#include "models/memory/line_store.hpp"
#include "models/units.hpp"

namespace linebounce::sim {

// 128 bits, so that different states are not taken for the same.
struct Digest {
  std::uint64_t high = 0x243f6a8885a308d3, low = 0x13198a2e03707344;
  void add(std::uint64_t value);
  friend bool operator==(const Digest&, const Digest&) = default;
};

class CheckedMemory {
 public:
  // `initial`: the words' first values.
  CheckedMemory(LineStore& initial, int cpus, Consistency consistency);

  struct Store {
    Address address = 0;
    int bytes = 8;
    Value value = 0;
    bool release = false;
  };

  [[nodiscard]] Consistency consistency() const { return consistency_; }

  // The value that this CPU sees: memory, overlaid by its own buffered stores.
  [[nodiscard]] Value load(int cpu, Address address, int bytes) const;
  // Whether a core can execute the load now: if the newest buffered store to any of the bytes does not cover all of them, it
  // must drain first, as in models/core/store_buffer.hpp.
  [[nodiscard]] bool can_load(int cpu, Address address, int bytes) const;
  // Stores into the buffer, if there is one.
  void store(int cpu, const Store& store);
  // REQUIRES: is_drained(cpu).
  void write(const Store& store);
  [[nodiscard]] bool is_drained(int cpu) const { return buffers_[cpu].empty(); }
  // The positions of the buffered stores that may drain next, the oldest being 0.
  [[nodiscard]] std::vector<int> drainable(int cpu) const;
  // Drains one of them.
  Store drain(int cpu, int place);

  void add_to(Digest& digest) const;

  // For readers: a buffer, the oldest first; the words that were ever written, by address; memory's own content.
  [[nodiscard]] const std::deque<Store>& buffer(int cpu) const { return buffers_[cpu]; }
  [[nodiscard]] const std::vector<std::pair<Address, int>>& written() const { return written_; }
  [[nodiscard]] Value in_memory(Address address, int bytes) const;

 private:
  [[nodiscard]] std::byte* place(Address address) const;

  LineStore* memory_;
  Consistency consistency_;
  std::vector<std::deque<Store>> buffers_;        // by CPU, the oldest first
  std::vector<std::pair<Address, int>> written_;  // words that were ever written, for the digest
};

}  // namespace linebounce::sim
