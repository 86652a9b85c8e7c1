// The IPv4 route cache of Linux 2.6.0 in simulated memory: a hash table of routes whose readers use RCU. A look-up that finds
// no route adds an entry. Long chains and the garbage collector remove entries, which are freed after a grace period. Removed
// entries count against the limit until they are freed, so a cache full of them takes no new ones.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/locks/lock_set.hpp"
#include "workloads/program/parameter_binder.hpp"
#include "workloads/program/times.hpp"
#include "workloads/program/workload.hpp"
#include "workloads/rcu/rcu.hpp"

namespace linebounce::workloads {

struct RouteCacheOptions {
  int hash_buckets = 2048;
  int most_entries_per_bucket = 16;
  int elasticity = 8;
  double gc_timeout_s = 300;
  double gc_min_interval_s = 5;
  std::int64_t hit_instructions = 5000;
  std::int64_t miss_instructions = 7000;

  void bind(ParameterBinder& parameters);
};

class RouteCache {
 public:
  RouteCache(const WorkloadSetup& setting, Rcu& rcu, Address jiffies, double jiffies_per_s, const RouteCacheOptions& options);

  // Routes a packet to this destination, in a softirq of the CPU that receives all packets. Returns false if there is no memory
  // for a new route; the caller then drops the packet. REQUIRES: only one CPU calls this; `destination` is not 0.
  bool route(Cpu& cpu, Value destination);

  // Whether there is a route to this destination. Any CPU may call it, as a reader.
  bool look_up(Cpu& cpu, Value destination);

  [[nodiscard]] std::int64_t entries() const { return entries_now_; }

  struct Figures {  // figures of the measured time
    std::int64_t hits = 0, misses = 0, overflows = 0, collections = 0, most_entries = 0, by_chain = 0, by_collector = 0;
    void report(MetricSink& metrics) const;
  };
  [[nodiscard]] const Figures& figures() const { return figures_; }

 private:
  Address find(Cpu& cpu, Address bucket, Value destination, Value jiffies);
  bool insert(Cpu& cpu, Address bucket, Value destination, Value jiffies);
  void free_later(Cpu& cpu, Address entry);
  // Returns false if the cache is full and nothing could be removed.
  bool collect_garbage(Cpu& cpu, Value jiffies);
  std::int64_t collect_from(Cpu& cpu, std::int64_t bucket, Value jiffies);
  [[nodiscard]] Address bucket_at(std::int64_t index) const { return table_ + static_cast<Address>(index) * kBucketBytes; }
  [[nodiscard]] Address bucket_of(Value destination) const;
  void unlock(Cpu& cpu, Address bucket);
  void lock(Cpu& cpu, Address bucket);

  static constexpr Address kBucketBytes = 16;

  RouteCacheOptions options_;
  Rcu* rcu_;
  Pace pace_;
  Address jiffies_;
  Address table_ = 0;
  Address entries_ = 0;  // number of entries, including removed ones that are not freed yet
  std::int64_t most_entries_ = 0;
  std::vector<Address> free_;
  // The garbage collector's state, in jiffies except the counts, and the free entries. Only the CPU that receives packets uses
  // them.
  Value timeout_ = 0, min_interval_ = 0, expire_ = 0, last_collection_ = 0;
  std::int64_t equilibrium_ = 0, rover_ = 0;
  FunctionId input_ = 0, slow_ = 0, collect_ = 0, free_function_ = 0;

  std::int64_t entries_now_ = 0;
  Figures figures_;
};

}  // namespace linebounce::workloads
