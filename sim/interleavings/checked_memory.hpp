// Memory as the lock checker's CPUs see it: words, and under tso and ia64 a store buffer for each CPU. No caches and no time:
// in what order things happen is the search's choice. Under ia64 a store may pass earlier ones of other bytes unless it
// releases (simulated store buffers keep those of one aligned word of 8 bytes in order, too). Loads are done in the program's
// order, as by the simulated cores.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "models/machine_spec.hpp"
#include "models/memory/line_store.hpp"
#include "models/units.hpp"

namespace linebounce::sim {

// 128 bits, so that two states that differ are not taken for one.
struct Digest {
  std::uint64_t high = 0x243f6a8885a308d3, low = 0x13198a2e03707344;
  void add(std::uint64_t value);
  friend bool operator==(const Digest&, const Digest&) = default;
};

class CheckedMemory {
 public:
  // `initial`: what words hold at first.
  CheckedMemory(LineStore& initial, int cpus, Consistency consistency);

  struct Store {
    Address address = 0;
    int bytes = 8;
    Value value = 0;
    bool release = false;
  };

  [[nodiscard]] Consistency consistency() const { return consistency_; }

  // What this CPU sees: memory, and its own buffered stores over it. / Whether a core can do the load now: if the newest
  // buffered store to any of the bytes has not all of them, it must be in memory first, as in models/core/store_buffer.hpp.
  [[nodiscard]] Value load(int cpu, Address address, int bytes) const;
  [[nodiscard]] bool can_load(int cpu, Address address, int bytes) const;
  // Into the buffer, if there is one.
  void store(int cpu, const Store& store);
  // REQUIRES: is_drained(cpu).
  void write(const Store& store);
  [[nodiscard]] bool is_drained(int cpu) const { return buffers_[cpu].empty(); }
  // The places in the buffer, the oldest 0, of those that may reach memory next. / One does.
  [[nodiscard]] std::vector<int> drainable(int cpu) const;
  Store drain(int cpu, int place);

  void add_to(Digest& digest) const;

  // For people: a buffer, the oldest first; the words that were ever written, by address; what memory itself holds.
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
