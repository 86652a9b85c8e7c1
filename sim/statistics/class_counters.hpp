// Counts what the caches on one bus do, in an introductory course's terms: misses, interventions, flushes, BusRdX. The counts
// are derived from protocol rows, so they mean the same for every protocol and both kinds of bus.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "models/coherence/protocol.hpp"
#include "models/ordinal.hpp"
#include "models/units.hpp"
#include "sim/point/point_data.hpp"
#include "sim/statistics/miss_classes.hpp"
#include "workloads/program/metric_sink.hpp"

namespace linebounce::sim {

enum class ClassCounter : std::uint8_t {
  reads,
  read_misses,
  writes,
  write_misses,
  hits,
  cold_misses,
  capacity_misses,
  conflict_misses,
  true_sharing_misses,
  false_sharing_misses,
  evictions,
  write_backs,
  bus_rd,
  bus_rdx,
  bus_upgr,
  bus_upd,
  bus_wr,
  cache_to_cache,
  memory_reads,
  memory_writes,
  interventions,
  invalidations,
  flushes,
  updates,
  silent_upgrades,
  useful_prefetches,
  wasted_prefetches,
  sc_failures,
  bus_bytes
};
constexpr int kClassCounters = 29;

// A counter's name in metrics and templates, its name in a course, and its meaning.
struct ClassCounterFacts {
  std::string_view name, words;
  const char* meaning;
};
extern const std::array<ClassCounterFacts, kClassCounters> kClassCounterFacts;  // by ClassCounter

using ClassCounts = std::array<std::int64_t, kClassCounters>;  // by ClassCounter

class ClassCounters {
 public:
  // `lines`: the size of each cache. REQUIRES: `bus` is a bus protocol, and outlives this object; at most 64 caches,
  // numbered from 0.
  ClassCounters(const Protocol& bus, int caches, int line_bytes, std::int64_t lines);

  // Reports that a cache's table ran its row for this state and event. REQUIRES: rows and accesses are reported in the order in
  // which they change the cache.
  void row_ran(int cache, LineAddr line, StateId state, EventId event);
  // Reports an access, after the rows that it caused. `hit`: it needed no transaction. Returns what it tells of the miss that
  // brought the copy. REQUIRES: the bytes lie on one line.
  MissClasses::Change access_ran(int cache, Address address, int bytes, bool writes, bool hit);
  // Counts a load that got its value from the CPU's own store buffer.
  void load_forwarded(int cache) {
    add(cache, ClassCounter::reads);
    add(cache, ClassCounter::hits);
  }
  // Counts a store-conditional that had lost its reservation. It is no access.
  void store_conditional_failed(int cache) { add(cache, ClassCounter::sc_failures); }
  // While off (in warm-up and after the measured time), states are followed but nothing is counted.
  void set_on(bool on) { on_ = on; }

  [[nodiscard]] const ClassCounts& of(int cache) const { return counts_[cache]; }
  [[nodiscard]] int caches() const { return static_cast<int>(counts_.size()); }

 private:
  // What a row means, in terms that hold for every protocol. processor: a CPU's event; own, other: a message of this or another
  // cache.
  struct RowMeaning {
    bool processor = false, own = false, other = false;
    bool by_store = false;  // the event is a Store or Atomic
    bool issues = false, frees = false, takes_data = false;
    bool needs_data = false;  // own message, after which the cache needs data
    bool supplies = false, to_memory = false;
    bool sends_word = false, takes_word = false;
    bool to_memory_alone = false;                 // own message, by which memory stores the word
    bool had_copy = false, keeps_copy = false;    // the cache has a readable copy before, and after the row
    bool could_write = false, can_write = false;  // without asking
    bool write_hits = false;                      // a Store that hits and changes the state, such as E to M
    ClassCounter transaction = ClassCounter::bus_rd;
    bool counts_transaction = false;
  };
  static RowMeaning meaning_of(const Protocol& bus, StateId state, std::size_t base, const linebounce::Row& row);

  void add(int cache, ClassCounter counter, std::int64_t count = 1) {
    if (on_) counts_[cache][ordinal(counter)] += count;
  }
  void processor_row(int cache, LineAddr line, const RowMeaning& row);
  void own_row(int cache, LineAddr line, const RowMeaning& row);
  void other_row(int cache, LineAddr line, const RowMeaning& row);
  // `again`: the cache has a copy, and gets the line with the right to write it. That is a miss without a class.
  void line_came(int cache, LineAddr line, bool again);
  void line_passed(int cache, LineAddr line);
  void line_left(int cache, LineAddr line);
  void word_written_through(int cache, const RowMeaning& row);

  // State of a line. Bit n of each member is about cache n.
  struct LineBits {
    std::uint64_t wanted_by_store = 0;  // cache n's latest request for the line was made for a store
    std::uint64_t unused = 0;  // a load fetched the line into cache n, or it came in passing, and no access has used it yet
    std::uint64_t passed = 0;  // the line came into cache n in passing, and no access has used it yet
  };

  void count_class(int cache, MissClasses::Change change);

  const std::size_t events_;
  const int line_bytes_;
  bool on_ = true;
  bool wrote_past_ = false;       // the access in progress has stored to memory alone, because the cache has no copy
  std::vector<RowMeaning> rows_;  // indexed [state][event]
  std::vector<ClassCounts> counts_;
  MissClasses classes_;
  std::unordered_map<std::uint64_t, LineBits> lines_;
  std::unordered_set<std::uint64_t> supplied_;  // lines that some cache supplies in the current order step
};

// Declares the counters as metrics and reports them, with the cycles of each cache's CPUs by cause. `cores`: by CPU, the index
// of its cache.
void report_class_counters(const std::vector<ClassCounts>& counts, const std::vector<CpiRow>& cpi,
                           const std::vector<int>& cores, workloads::MetricSink& metrics);
void declare_class_counters(workloads::MetricSink& metrics);

}  // namespace linebounce::sim
