#include "sim/statistics/class_counters.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "sim/statistics/source_names.hpp"

namespace linebounce::sim {

using workloads::kDetail;
using workloads::kNeither;

namespace {

constexpr int kUpdateBytes = 8;  // bytes on the data bus for one updated word (models/bus)

bool issued_at(const ControllerTable& table, std::size_t base, MessageId message) {
  for (std::size_t state = 0; state < table.states.size(); ++state) {
    const linebounce::Row& row = table.row(static_cast<StateId>(state), table.base_events[base].first);
    for (const Action action : row.steps()) {
      if (action.verb == Verb::issue && action.argument == message) return true;
    }
  }
  return false;
}

bool own_row_does(const Protocol& bus, MessageId message, Verb verb) {
  const BaseEvent& own = bus.cache.base_events[own_event(message)];
  for (std::size_t state = 0; state < bus.cache.states.size(); ++state) {
    for (int word = 0; word < own.count; ++word) {
      if (bus.cache.row(static_cast<StateId>(state), static_cast<EventId>(own.first + word)).does(verb)) return true;
    }
  }
  return false;
}

bool sends_data_to(const linebounce::Row& row, Destination where) {
  return std::any_of(row.steps().begin(), row.steps().end(),
                     [where](Action action) { return action.verb == Verb::send_data && (action.argument & where) != 0; });
}

std::uint64_t bit_of(int cache) {
  return std::uint64_t{1} << cache;
}

}  // namespace

const std::array<ClassCounterFacts, kClassCounters> kClassCounterFacts = {{
    {"reads", "reads", "loads of the cache's CPUs, those that their store buffers served included"},
    {"read_misses", "read misses", "lines that loads fetched"},
    {"writes", "writes", "stores and atomic operations of the cache's CPUs"},
    {"write_misses", "write misses",
     "lines that stores fetched. A store to a line that the cache may only read is not a miss: it is a `bus_upgr`"},
    {"hits", "hits", "accesses that needed no transaction"},
    {"cold_misses", "cold misses", "misses on lines that the cache never had before"},
    {"capacity_misses", "capacity misses",
     "misses on lines that the cache had evicted, and which a fully associative cache of its size would have evicted, too"},
    {"conflict_misses", "conflict misses",
     "misses on lines that the cache had evicted, and which a fully associative cache of its size would still have"},
    {"true_sharing_misses", "true sharing misses",
     "misses on lines that another cache's write had taken, to read or write a word that was new"},
    {"false_sharing_misses", "false sharing misses",
     "misses on lines that another cache's write had taken, though the words that are then used are the old ones"},
    {"evictions", "evictions", "lines that left to make room, clean ones included"},
    {"write_backs", "write-backs", "evicted lines that were newer than memory's"},
    {"bus_rd", "BusRd", "transactions of this cache that ask for a copy to read"},
    {"bus_rdx", "BusRdX", "transactions of this cache that ask for the only copy, with its data"},
    {"bus_upgr", "BusUpgr", "transactions of this cache that ask for the right to write, without data"},
    {"bus_upd", "BusUpd", "transactions of this cache that send a word to the other copies"},
    {"bus_wr", "BusWr", "transactions of this cache that write a word through to memory"},
    {"cache_to_cache", "cache-to-cache transfers", "lines that this cache got from another one"},
    {"memory_reads", "memory reads", "lines that this cache got from memory"},
    {"memory_writes", "memory writes", "times that this cache's data went to memory: write-backs, flushes and updates"},
    {"interventions", "interventions",
     "times that another cache's transaction took the exclusive right from this cache and left it a copy"},
    {"invalidations", "invalidations", "copies that other caches' transactions took from this cache"},
    {"flushes", "flushes", "times that another cache's transaction made this cache send its line to memory"},
    {"updates", "updates", "words of other caches that this cache's copies took"},
    {"silent_upgrades", "silent upgrades", "first writes that needed no transaction, because no other cache had the line"},
    {"useful_prefetches", "useful prefetches", "lines that were fetched before a load needed them, and then used"},
    {"wasted_prefetches", "wasted prefetches", "lines that were fetched before a load needed them, and left unused"},
    {"sc_failures", "failed store-conditionals", "store-conditionals that had lost their reservation"},
    {"bus_bytes", "bytes on the bus", "data of this cache's transactions: lines and words, without addresses"},
}};

ClassCounters::ClassCounters(const Protocol& bus, int caches, int line_bytes, std::int64_t lines)
    : events_(bus.cache.events.size()),
      line_bytes_(line_bytes),
      counts_(static_cast<std::size_t>(caches)),
      classes_(caches, line_bytes, lines) {
  rows_.resize(bus.cache.rows.size());
  for (std::size_t state = 0; state < bus.cache.states.size(); ++state) {
    for (std::size_t base = 0; base < bus.cache.base_events.size(); ++base) {
      const BaseEvent& event = bus.cache.base_events[base];
      for (int word = 0; word < event.count; ++word) {
        const auto id = static_cast<EventId>(event.first + word);
        const auto from = static_cast<StateId>(state);
        rows_[state * events_ + id] = meaning_of(bus, from, base, bus.cache.row(from, id));
      }
    }
  }
}

ClassCounters::RowMeaning ClassCounters::meaning_of(const Protocol& bus, StateId state, std::size_t base,
                                                    const linebounce::Row& row) {
  RowMeaning meaning;
  if (row.impossible) return meaning;
  const StateInfo& before = bus.cache.states[state];
  const StateInfo& after = bus.cache.states[row.next];
  const bool atomic = bus.has_far_atomics() && base == bus.atomic;
  meaning.processor = base <= kEvict || atomic;
  meaning.by_store = base == kStore || atomic;
  meaning.issues = row.does(Verb::issue);
  meaning.frees = base == kEvict && !row.stalls();
  meaning.takes_data = row.does(Verb::take_data);
  meaning.sends_word = row.does(Verb::send_word);
  meaning.takes_word = row.does(Verb::apply_word);
  meaning.supplies = sends_data_to(row, to_requestor) || row.does(Verb::offer_data);
  meaning.to_memory = sends_data_to(row, to_memory);
  meaning.had_copy = before.readable;
  meaning.keeps_copy = after.readable;
  meaning.could_write = before.writable;
  meaning.can_write = after.writable;
  meaning.write_hits = meaning.by_store && row.does(Verb::hit) && row.next != state;
  if (meaning.processor || base == kData) return meaning;
  const auto message = static_cast<MessageId>((base - kFirstMessage) / 2);
  meaning.own = base == own_event(message);
  meaning.other = !meaning.own;
  if (meaning.other) return meaning;
  meaning.needs_data = after.awaits_data || meaning.takes_data;
  meaning.to_memory_alone = bus.messages[message].operates && !bus.has_far_atomics();
  meaning.counts_transaction = !bus.messages[message].operates || meaning.to_memory_alone;
  if (meaning.to_memory_alone) {
    meaning.transaction = ClassCounter::bus_wr;
  } else if (issued_at(bus.cache, kEvict, message)) {
    meaning.transaction = ClassCounter::write_backs;
    meaning.counts_transaction = meaning.to_memory;  // false if another cache has taken the line meanwhile
  } else if (own_row_does(bus, message, Verb::send_word)) {
    meaning.transaction = ClassCounter::bus_upd;
  } else if (issued_at(bus.cache, kLoad, message)) {
    meaning.transaction = ClassCounter::bus_rd;
  } else {
    meaning.transaction = meaning.needs_data ? ClassCounter::bus_rdx : ClassCounter::bus_upgr;
  }
  return meaning;
}

void ClassCounters::row_ran(int cache, LineAddr line, StateId state, EventId event) {
  const RowMeaning& row = rows_[state * events_ + event];
  if (row.processor) processor_row(cache, line, row);
  if (row.own) own_row(cache, line, row);
  if (row.other) other_row(cache, line, row);
  if (row.takes_data && row.other) line_passed(cache, line);
  if (row.takes_data && !row.other) line_came(cache, line, row.own && row.had_copy);
}

void ClassCounters::processor_row(int cache, LineAddr line, const RowMeaning& row) {
  if (row.frees && row.had_copy) {
    add(cache, ClassCounter::evictions);
    classes_.evicted(cache, line);
    line_left(cache, line);
  }
  if (row.issues && !row.frees) {
    LineBits& bits = lines_[line.value];
    bits.wanted_by_store = row.by_store ? bits.wanted_by_store | bit_of(cache) : bits.wanted_by_store & ~bit_of(cache);
  }
  // A store that had to fetch its line was counted as a miss, so its write hit after the fill is not a silent upgrade.
  if (row.write_hits && (lines_[line.value].wanted_by_store & bit_of(cache)) == 0) add(cache, ClassCounter::silent_upgrades);
}

void ClassCounters::own_row(int cache, LineAddr line, const RowMeaning& row) {
  const bool from_cache = supplied_.erase(line.value) > 0;
  if (row.counts_transaction) add(cache, row.transaction);
  if (row.needs_data) add(cache, from_cache ? ClassCounter::cache_to_cache : ClassCounter::memory_reads);
  if (row.to_memory) add(cache, ClassCounter::memory_writes);
  if (row.to_memory_alone) word_written_through(cache, row);
  if (row.sends_word) {
    add(cache, ClassCounter::bus_bytes, kUpdateBytes);
  } else if (row.needs_data || row.to_memory) {
    add(cache, ClassCounter::bus_bytes, line_bytes_);
  }
}

void ClassCounters::word_written_through(int cache, const RowMeaning& row) {
  add(cache, ClassCounter::memory_writes);
  add(cache, ClassCounter::bus_bytes, kUpdateBytes);
  wrote_past_ = !row.had_copy;
  if (wrote_past_) add(cache, ClassCounter::write_misses);
}

void ClassCounters::other_row(int cache, LineAddr line, const RowMeaning& row) {
  if (row.supplies) supplied_.insert(line.value);
  if (row.to_memory) {
    add(cache, ClassCounter::flushes);
    add(cache, ClassCounter::memory_writes);
  }
  if (row.takes_word) add(cache, ClassCounter::updates);
  if (row.could_write && row.keeps_copy && !row.can_write) add(cache, ClassCounter::interventions);
  if (row.had_copy && !row.keeps_copy) {
    add(cache, ClassCounter::invalidations);
    classes_.invalidated(cache, line);
    line_left(cache, line);
  }
}

void ClassCounters::line_came(int cache, LineAddr line, bool again) {
  if (!again) classes_.fetched(cache, line);
  LineBits& bits = lines_[line.value];
  if ((bits.wanted_by_store & bit_of(cache)) != 0) {
    add(cache, ClassCounter::write_misses);
  } else {
    bits.unused |= bit_of(cache);
  }
}

void ClassCounters::line_passed(int cache, LineAddr line) {
  classes_.passed(cache, line);
  LineBits& bits = lines_[line.value];
  bits.unused |= bit_of(cache);
  bits.passed |= bit_of(cache);
}

void ClassCounters::line_left(int cache, LineAddr line) {
  LineBits& bits = lines_[line.value];
  if ((bits.unused & bit_of(cache)) != 0) add(cache, ClassCounter::wasted_prefetches);
  bits.unused &= ~bit_of(cache);
  bits.passed &= ~bit_of(cache);
}

MissClasses::Change ClassCounters::access_ran(int cache, Address address, int bytes, bool writes, bool hit) {
  const LineAddr line(address / static_cast<Address>(line_bytes_));
  add(cache, writes ? ClassCounter::writes : ClassCounter::reads);
  if (hit) add(cache, ClassCounter::hits);
  LineBits& bits = lines_[line.value];
  const bool waited = !hit && (bits.passed & bit_of(cache)) == 0;
  if ((bits.unused & bit_of(cache)) != 0) add(cache, waited ? ClassCounter::read_misses : ClassCounter::useful_prefetches);
  bits.unused &= ~bit_of(cache);
  bits.passed &= ~bit_of(cache);
  if (writes) bits.wanted_by_store &= ~bit_of(cache);
  if (std::exchange(wrote_past_, false)) {
    classes_.wrote_past(cache, address, bytes);
    return {};
  }
  const MissClasses::Change change = classes_.used(cache, address, bytes, writes, hit);
  if (change.was != change.is) count_class(cache, change);
  return change;
}

void ClassCounters::count_class(int cache, MissClasses::Change change) {
  constexpr int kBeforeFirst = ordinal(ClassCounter::cold_misses) - ordinal(MissClass::cold);
  const auto counter_of = [](MissClass is) { return static_cast<ClassCounter>(kBeforeFirst + ordinal(is)); };
  if (change.was != MissClass::none) add(cache, counter_of(change.was), -1);
  if (change.is != MissClass::none) add(cache, counter_of(change.is));
}

namespace {

// True for what a machine has, too. Its caches write back, and its programs have no store-conditionals.
bool is_of_machines(std::size_t counter) {
  return counter != ordinal(ClassCounter::bus_wr) && counter != ordinal(ClassCounter::sc_failures);
}

struct CounterFamily {
  std::size_t counter;
  workloads::MetricFamily family;
};

// Declares a separate metric family for each counter, so that each has its own description.
std::vector<CounterFamily> counter_families(workloads::MetricSink& metrics) {
  std::vector<CounterFamily> families;
  for (std::size_t counter = 0; counter < kClassCounterFacts.size(); ++counter) {
    if (!is_of_machines(counter)) continue;
    const ClassCounterFacts& facts = kClassCounterFacts[counter];
    families.push_back({counter, metrics.family("caches.<i>." + std::string(facts.name),
                                                facts.name == "bus_bytes" ? "bytes" : "", kNeither, facts.meaning, kDetail)});
  }
  return families;
}

workloads::MetricFamily cycles_family(workloads::MetricSink& metrics) {
  return metrics.family("caches.<i>.cycles_<cause>", "cycles", kNeither,
                        "of the cache's CPUs, by what they waited for: the columns of `cpi.csv`. Missing where it is 0",
                        kDetail);
}

}  // namespace

void declare_class_counters(workloads::MetricSink& metrics) {
  counter_families(metrics);
  cycles_family(metrics);
}

void report_class_counters(const std::vector<ClassCounts>& counts, const std::vector<CpiRow>& cpi,
                           const std::vector<int>& cores, workloads::MetricSink& metrics) {
  const std::vector<CounterFamily> families = counter_families(metrics);
  for (std::size_t cache = 0; cache < counts.size(); ++cache) {
    for (const auto& [counter, family] : families) family.add({std::to_string(cache)}, counts[cache][counter]);
  }
  std::map<std::pair<int, std::size_t>, std::int64_t> cycles;
  for (const CpiRow& row : cpi) {
    for (std::size_t part = 0; part < row.parts.size(); ++part)
      cycles[{cores[static_cast<std::size_t>(row.cpu)], part}] += row.parts[part];
  }
  const workloads::MetricFamily by_cause = cycles_family(metrics);
  for (const auto& [key, sum] : cycles) {
    if (sum > 0) by_cause.add({std::to_string(key.first), kTimePartNames[key.second]}, sum);
  }
}

}  // namespace linebounce::sim
