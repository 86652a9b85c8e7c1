// One level of caches on an atomic bus. An access and its transactions are one step, and nothing takes time. Replacement is
// least recently used. Each copy holds its version number of the line, by which stale values are detected.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "models/coherence/bus_order.hpp"
#include "models/coherence/protocol.hpp"
#include "models/units.hpp"
#include "sim/statistics/class_counters.hpp"

namespace linebounce::sim {

struct AtomicCacheSpec {
  int size_bytes = 0;
  int ways = 0;
  int line_bytes = 0;
};

struct AtomicTransaction {
  MessageId message = 0;
  int supplier = kNobody;   // who supplied the line: a cache, kMemory, or kNobody if none was needed
  int to_memory = kNobody;  // the cache whose line or word went to memory, or kNobody
  bool operated = false;    // memory ran the access
  bool of_eviction = false;
};

// What AtomicBus did for one access.
struct AtomicAccess {
  bool hit = false;     // without a transaction
  bool failed = false;  // a store-conditional that has done nothing
  std::vector<AtomicTransaction> transactions;
  struct Evicted {
    LineAddr line;
    StateId state = 0;
  };
  std::optional<Evicted> evicted;
  MissClasses::Change miss;
};

// The number of a cache's sets. Errors: std::invalid_argument if it is not a power of two.
std::uint64_t sets_of(const AtomicCacheSpec& spec);

class AtomicBus {
 public:
  // REQUIRES: `protocol` is for an atomic bus; `protocol` and `counters` outlive this object. Errors: as for sets_of().
  AtomicBus(const Protocol& protocol, int caches, const AtomicCacheSpec& spec, ClassCounters& counters);

  // Returns what stays valid until the next access. REQUIRES: the bytes lie on one line. Errors: ProtocolFault;
  // std::logic_error if a copy is stale or the access never completes.
  const AtomicAccess& access(int cache, Address address, int bytes, bool writes);
  // A load-linked or, if it writes, a store-conditional. A load-linked reserves its line for the cache. The reservation ends
  // when a row takes the copy from the cache or writes another cache's word into it, and with the cache's next of these
  // operations. A store-conditional without it fails. Otherwise as for access().
  const AtomicAccess& linked_access(int cache, Address address, int bytes, bool writes);
  [[nodiscard]] StateId state(int cache, LineAddr line) const;

 private:
  struct Copy {
    LineAddr line;
    StateId state = 0;
    std::int64_t version = 0;
    std::int64_t used = 0;  // number of the latest access to this copy
  };
  class Line;

  [[nodiscard]] std::vector<Copy>& set_of(int cache, LineAddr line) {
    return sets_[static_cast<std::size_t>(cache)][line.value % sets_of_cache_];
  }
  [[nodiscard]] Copy* find(int cache, LineAddr line);
  [[nodiscard]] LineAddr line_of(Address address) const { return LineAddr(address / static_cast<Address>(spec_.line_bytes)); }
  [[nodiscard]] Copy& victim_of(std::vector<Copy>& set) const;
  void make_room(int cache, LineAddr line);
  void order(Line& line, MessageId message, int cache);
  void end_reservation(int cache, LineAddr line);
  void drop(int cache, LineAddr line);
  [[noreturn]] void fail(const std::string& what, LineAddr line) const;

  const Protocol& protocol_;
  const AtomicCacheSpec spec_;
  ClassCounters& counters_;
  std::uint64_t sets_of_cache_;
  std::vector<std::vector<std::vector<Copy>>> sets_;  // indexed [cache][set]
  std::vector<int> everybody_;
  struct MemoryLine {
    std::int64_t version = 0;  // memory's
    std::int64_t latest = 0;
  };
  std::unordered_map<std::uint64_t, MemoryLine> memory_;
  std::vector<bool> allocates_;         // indexed by base event: whether a cache without the line gets it by this access
  std::vector<bool> ends_reservation_;  // by row
  std::vector<std::optional<LineAddr>> reserved_;  // by cache
  std::int64_t accesses_ = 0;
  AtomicAccess latest_;
};

}  // namespace linebounce::sim
