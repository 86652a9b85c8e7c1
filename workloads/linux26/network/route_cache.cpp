#include "workloads/linux26/network/route_cache.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/failure.hpp"

namespace linebounce::workloads {
namespace {

// Field offsets of struct rtable, in an object of 256 bytes. As in 2.6.0, a walk of a hash chain reads two lines of each entry.
constexpr Address kNext = 0;
constexpr Address kRefcount = 8;
constexpr Address kLastUse = 24;
constexpr Address kRouteHead = 96;  // for RCU
constexpr Address kDestination = 160;
constexpr Address kEntryBytes = 256;

constexpr Value kFreedRoute = ~Value{0};
constexpr double kRouteCpi = 1.0;  // cycles per instruction of kernel code without cache misses

}  // namespace

void RouteCacheOptions::bind(ParameterBinder& parameters) {
  parameters.number("hash_buckets", hash_buckets, 16, 1 << 20, "of the route cache (with 256 MB of memory: 2048)");
  parameters.number("most_entries_per_bucket", most_entries_per_bucket, 1, 1024,
                    "ip_rt_max_size: so many entries for each bucket, those that wait to be freed among them");
  parameters.number("elasticity", elasticity, 1, 1024, "a chain that is longer loses an entry for each new one");
  parameters.number("gc_timeout_s", gc_timeout_s, 0.001, 1e5, "after so long without use an entry is garbage");
  parameters.number("gc_min_interval_s", gc_min_interval_s, 0, 1e5,
                    "between two collections, as long as the cache is not full");
  parameters.number("hit_instructions", hit_instructions, 0, 1e6, "of a packet whose route is in the cache");
  parameters.number("miss_instructions", miss_instructions, 0, 1e6, "more, to find the route of one that isn't");
}

RouteCache::RouteCache(const WorkloadSetup& setting, Rcu& rcu, Address jiffies, double jiffies_per_s,
                       const RouteCacheOptions& options)
    : options_(options),
      rcu_(&rcu),
      pace_(kRouteCpi, setting.machine),
      jiffies_(jiffies),
      most_entries_(std::int64_t{options.hash_buckets} * options.most_entries_per_bucket),
      timeout_(static_cast<Value>(options.gc_timeout_s * jiffies_per_s)),
      min_interval_(static_cast<Value>(options.gc_min_interval_s * jiffies_per_s)),
      expire_(timeout_),
      equilibrium_(options.hash_buckets),
      input_(setting.memory.function("ip_route_input", Mode::kernel)),
      slow_(setting.memory.function("ip_route_input_slow", Mode::kernel)),
      collect_(setting.memory.function("rt_garbage_collect", Mode::kernel)),
      free_function_(setting.memory.function("dst_free", Mode::kernel)) {
  table_ = setting.memory.place_array("rt_hash_table", options.hash_buckets * static_cast<std::int64_t>(kBucketBytes));
  entries_ = setting.memory.place({.name = "dst_ops", .size = 8, .fields = {{"entries", 0}}}, "ipv4_dst_ops",
                                  setting.memory.line_bytes());
  // Twice the limit: when a collection has removed enough entries, a full cache allocates another before the removed ones are
  // freed.
  const std::int64_t pool = 2 * most_entries_;
  const Address objects = setting.memory.place_array("ip_dst_cache", pool * static_cast<std::int64_t>(kEntryBytes));
  for (std::int64_t i = pool - 1; i >= 0; --i) free_.push_back(objects + static_cast<Address>(i) * kEntryBytes);
}

void RouteCache::lock(Cpu& cpu, Address bucket) {
  while (cpu.exchange(bucket, 1) != 0) cpu.spin_until(bucket, [](Value held) { return held == 0; });
}

void RouteCache::unlock(Cpu& cpu, Address bucket) {
  cpu.store_release(bucket, 0);
}

Address RouteCache::bucket_of(Value destination) const {
  const Value hash = destination * 0x9E3779B97F4A7C15ULL >> 32;
  return bucket_at(static_cast<std::int64_t>(hash % static_cast<Value>(options_.hash_buckets)));
}

bool RouteCache::look_up(Cpu& cpu, Value destination) {
  const FunctionScope scope(cpu, input_);
  const Value jiffies = cpu.load(jiffies_);
  return find(cpu, bucket_of(destination), destination, jiffies) != 0;
}

bool RouteCache::route(Cpu& cpu, Value destination) {
  const FunctionScope scope(cpu, input_);
  const Address bucket = bucket_of(destination);
  const Value jiffies = cpu.load(jiffies_);
  Address entry = find(cpu, bucket, destination, jiffies);
  const bool counts = cpu.measures(cpu.local_time());
  if (entry == 0) {
    const FunctionScope slow(cpu, slow_);
    pace_.pass(cpu, options_.miss_instructions);
    if (counts) ++figures_.misses;
    if (!insert(cpu, bucket, destination, jiffies)) {
      if (counts) ++figures_.overflows;
      return false;
    }
  } else if (counts) {
    ++figures_.hits;
  }
  pace_.pass(cpu, options_.hit_instructions);
  return true;
}

// Returns the destination's entry. Takes a reference to it, as forwarding does, and drops it at once, because the packet leaves
// within this softirq.
Address RouteCache::find(Cpu& cpu, Address bucket, Value destination, Value jiffies) {
  rcu_->read_lock(cpu);
  Address entry = cpu.load(bucket + 8);
  while (entry != 0) {
    const Value found = cpu.load(entry + kDestination);
    if (found == kFreedRoute)
      throw ModelFailure(fmt::format("route_cache: CPU {} finds the freed entry 0x{:x}", cpu.id().value, entry));
    if (found == destination) break;
    entry = cpu.load(entry + kNext);
  }
  if (entry != 0) {
    cpu.store(entry + kLastUse, jiffies);
    cpu.fetch_add(entry + kRefcount, 1);
    cpu.fetch_add(entry + kRefcount, ~Value{0});
  }
  rcu_->read_unlock(cpu);
  return entry;
}

bool RouteCache::insert(Cpu& cpu, Address bucket, Value destination, Value jiffies) {
  if (static_cast<std::int64_t>(cpu.load(entries_)) > options_.hash_buckets && !collect_garbage(cpu, jiffies)) return false;
  if (free_.empty()) return false;
  const Address entry = free_.back();
  free_.pop_back();
  cpu.fetch_add(entries_, 1);
  ++entries_now_;
  if (cpu.measures(cpu.local_time())) figures_.most_entries = std::max(figures_.most_entries, entries_now_);
  cpu.store(entry + kDestination, destination);
  cpu.store(entry + kLastUse, jiffies);
  cpu.store(entry + kRefcount, 0);
  lock(cpu, bucket);
  // The chain's least recently used entry, which is removed if the chain is too long.
  Address oldest = 0;
  Address before_oldest = 0;
  Value oldest_use = ~Value{0};
  int length = 0;
  Address before = bucket + 8;
  for (Address other = cpu.load(before); other != 0; other = cpu.load(other + kNext)) {
    const Value used = cpu.load(other + kLastUse);
    if (used < oldest_use) {
      oldest = other;
      before_oldest = before;
      oldest_use = used;
    }
    ++length;
    before = other + kNext;
  }
  if (length > options_.elasticity) {
    const Value behind = cpu.load(oldest + kNext);
    cpu.store(before_oldest, behind);
    free_later(cpu, oldest);
    if (cpu.measures(cpu.local_time())) ++figures_.by_chain;
  }
  const Value first = cpu.load(bucket + 8);
  cpu.store(entry + kNext, first);
  cpu.store_release(bucket + 8, entry);
  unlock(cpu, bucket);
  return true;
}

void RouteCache::free_later(Cpu& cpu, Address entry) {
  rcu_->call(cpu, entry + kRouteHead, [this, entry](Cpu& on) {
    const FunctionScope scope(on, free_function_);
    if (on.load(entry + kRefcount) != 0) throw ModelFailure("route_cache: an entry is freed that is in use");
    on.store(entry + kDestination, kFreedRoute);
    on.fetch_add(entries_, ~Value{0});
    --entries_now_;
    free_.push_back(entry);
  });
}

// rt_garbage_collect(). Decides from the current and the earlier number of entries how many to remove. Makes at most one pass
// over the table, because a softirq must end.
bool RouteCache::collect_garbage(Cpu& cpu, Value jiffies) {
  const auto entries = static_cast<std::int64_t>(cpu.load(entries_));
  const bool full = entries >= most_entries_;
  if (jiffies - last_collection_ < min_interval_ && !full) return true;
  const FunctionScope scope(cpu, collect_);
  if (cpu.measures(cpu.local_time())) ++figures_.collections;
  const std::int64_t buckets = options_.hash_buckets;
  std::int64_t goal = entries - std::int64_t{options_.elasticity} * buckets;
  if (goal <= 0) {
    equilibrium_ = std::max(equilibrium_, buckets);
    goal = entries - equilibrium_;
    if (goal > 0) {
      equilibrium_ += std::min(goal / 2, buckets);
      goal = entries - equilibrium_;
    }
  } else {
    goal = std::max(goal / 2, buckets);
    equilibrium_ = entries - goal;
  }
  if (jiffies - last_collection_ >= min_interval_) last_collection_ = jiffies;
  const auto lengthen = [&] {
    expire_ += min_interval_;
    if (expire_ > timeout_ || entries < buckets) expire_ = timeout_;
  };
  if (goal <= 0) {
    equilibrium_ += goal;
    lengthen();
    return true;
  }
  for (std::int64_t looked_at = 0; looked_at < buckets && goal > 0; ++looked_at) {
    rover_ = (rover_ + 1) % buckets;
    goal -= collect_from(cpu, rover_, jiffies);
  }
  if (goal <= 0) {
    lengthen();
    return true;
  }
  expire_ /= 2;
  return static_cast<std::int64_t>(cpu.load(entries_)) < most_entries_;
}

// Removes old entries from one chain. The farther down the chain an entry is, the younger it may be when it is removed.
std::int64_t RouteCache::collect_from(Cpu& cpu, std::int64_t index, Value jiffies) {
  const Address bucket = bucket_at(index);
  std::int64_t collected = 0;
  if (cpu.load(bucket + 8) == 0) return collected;
  Value limit = expire_;
  lock(cpu, bucket);
  Address before = bucket + 8;
  for (Address entry = cpu.load(before); entry != 0;) {
    const Value age = jiffies - cpu.load(entry + kLastUse);
    const Address next = cpu.load(entry + kNext);
    if (age <= limit) {
      limit /= 2;
      before = entry + kNext;
    } else {
      cpu.store(before, next);
      free_later(cpu, entry);
      ++collected;
    }
    entry = next;
  }
  unlock(cpu, bucket);
  if (cpu.measures(cpu.local_time())) figures_.by_collector += collected;
  return collected;
}

void RouteCache::Figures::report(MetricSink& metrics) const {
  metrics.count("route_cache.overflows", "", kLower, "packets for whose destination the cache had no room", overflows);
  metrics.count("route_cache.entries_max", "", kLower,
                "the most entries of the route cache, those that wait to be freed among them", most_entries);
  metrics.count("route_cache.collections", "", kNeither, "how often the garbage collector began", collections, kDetail);
  metrics.count("route_cache.freed_by_chains", "", kNeither, "entries taken out because their chain was too long", by_chain,
                kDetail);
  metrics.count("route_cache.freed_by_collector", "", kNeither, "entries that the garbage collector took out", by_collector,
                kDetail);
  metrics.mean("route_cache.hit_pct", "%", kHigher, "packets whose route was in the cache", 100 * static_cast<double>(hits),
               hits + misses);
}

}  // namespace linebounce::workloads
