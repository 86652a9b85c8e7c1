// Counts misses by place and kind: the source of lines.csv.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "models/observer.hpp"
#include "sim/point/cpu_set.hpp"

namespace linebounce::sim {

// Counts misses by object and offset, function, access, home and source. An open-addressing hash table that grows. Iterate with
// sorted(), because the table's own order depends on its size.
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
  MissTable() : entries_(256) {}
  void add(const Key& key, bool remote, const Miss& miss);
  // Sorted by key. Valid until the next add().
  [[nodiscard]] std::vector<const Entry*> sorted() const;

 private:
  Entry& find(std::vector<Entry>& entries, const Key& key) const;

  std::vector<Entry> entries_;  // an entry with count 0 is free
  std::size_t used_ = 0;
};

}  // namespace linebounce::sim
