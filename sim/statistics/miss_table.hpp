// Counts misses by place and kind: the source of lines.csv.
#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <vector>

#include "models/observer.hpp"
#include "sim/point/cpu_set.hpp"

namespace linebounce::sim {

// Counts misses by object and offset, function, access, home and source. Runs with many objects have some 10^5 entries, so the
// hash table holds only their numbers.
class MissTable {
 public:
  struct Key {
    std::uint32_t object = 0;
    std::uint32_t offset = 0;
    FunctionId function = 0;
    AccessKind access{};
    std::int16_t home = 0;  // home node of the accessed line; parts of an array may have different homes
    Source source{};
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  struct Entry {
    Key key;
    std::int64_t count = 0;
    std::int64_t remote = 0;  // misses whose requester is not on the home node
    Tick latency = 0;
    Waits waits = {};
    CpuSet cpus = {};
  };
  struct Sum {
    std::int64_t count = 0;
    Tick latency = 0;
    Waits waits = {};

    void add(const Entry& entry) {
      count += entry.count;
      latency += entry.latency;
      waits += entry.waits;
    }
  };
  MissTable() : slots_(256) {}
  void add(const Key& key, bool remote, const Miss& miss);
  // Sorted by key.
  [[nodiscard]] std::vector<const Entry*> sorted() const;

 private:
  // The slot that holds `key`, or the free one where it belongs.
  std::uint32_t& slot_of(const Key& key);
  void grow();

  std::vector<std::uint32_t> slots_;  // open addressing; 0 is free, n is entries_[n - 1]; their number is a power of two
  std::deque<Entry> entries_;
};

}  // namespace linebounce::sim
