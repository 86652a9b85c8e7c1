// The route cache: what it keeps, what it evicts and when, and what happens if evicted entries are freed too early.
#include "workloads/linux26/network/route_cache.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <set>

#include "models/failure.hpp"
#include "tests/models/support/small_machine.hpp"
#include "tests/workloads/run_workload.hpp"

namespace linebounce::test {

using namespace workloads;

namespace {

// RCU whose callbacks wait until the test runs them, or run at once.
class HeldCallbacks final : public Rcu {
 public:
  void start(Cpu&) override {}
  void read_lock(Cpu&) override {}
  void read_unlock(Cpu&) override {}
  void quiescent(Cpu&) override {}
  [[nodiscard]] FunctionId idle_function() const override { return 0; }
  void call(Cpu& cpu, Address, std::function<void(Cpu&)> callback) override {
    if (at_once) return callback(cpu);
    waiting.push_back(std::move(callback));
  }
  void synchronize(Cpu& cpu) override {
    for (; !waiting.empty(); waiting.pop_front()) waiting.front()(cpu);
  }
  std::int64_t run_excess(Cpu&, const std::function<bool()>&) override { return 0; }
  [[nodiscard]] std::size_t queued_on(const Cpu&) const override { return waiting.size(); }
  [[nodiscard]] const std::vector<GracePeriod>& grace_periods() const override { return none_; }
  [[nodiscard]] std::vector<CallbackBatch> batches() const override { return {}; }
  void report(MetricSink&) const override {}
  void report_reports(MetricSink&) const override {}

  std::deque<std::function<void(Cpu&)>> waiting;
  bool at_once = false;

 private:
  std::vector<GracePeriod> none_;
};

constexpr Value kFirst = Value{5} << 24;

// A router whose clock the test sets; a tick is a millisecond.
struct Router {
  explicit Router(const RouteCacheOptions& options, int cpus = 1)
      : spec(small_machine(cpus)),
        small(spec),
        space(small.machine.store(), nullptr),
        locks(space, cpus),
        jiffies(space.place_array("jiffies", 32)),
        cache({space, locks, spec, small.machine.layout(), 1}, rcu, jiffies, 1000, options) {}

  void run(const std::vector<Core::Program>& programs) {
    small.machine.set_functions(space.functions().size());
    small.run(programs);
  }
  // Makes entries for new destinations; returns how many there was room for.
  int fill(Cpu& cpu, int destinations) {
    int routed = 0;
    for (int i = 0; i < destinations; ++i) routed += cache.route(cpu, kFirst + next++) ? 1 : 0;
    return routed;
  }
  [[nodiscard]] Metrics metrics() const {
    Metrics metrics;
    cache.figures().report(metrics);
    return metrics;
  }

  MachineSpec spec;
  SmallMachine small;
  AddressSpace space;
  LockSet locks;
  Address jiffies;
  HeldCallbacks rcu;
  RouteCache cache;
  Value next = 0;
};

RouteCacheOptions small_cache() {
  RouteCacheOptions options;
  options.hash_buckets = 16;
  options.most_entries_per_bucket = 4;
  options.elasticity = 8;
  options.gc_timeout_s = 0.1;
  options.gc_min_interval_s = 0.01;
  options.hit_instructions = 10;
  options.miss_instructions = 10;
  return options;
}

TEST(RouteCache, ADestinationIsFoundOnceItHasBeenRouted) {
  Router router(small_cache());
  router.run({[&](Cpu& cpu) {
    EXPECT_FALSE(router.cache.look_up(cpu, kFirst));
    EXPECT_TRUE(router.cache.route(cpu, kFirst));
    EXPECT_TRUE(router.cache.look_up(cpu, kFirst));
    EXPECT_TRUE(router.cache.route(cpu, kFirst));
    EXPECT_EQ(router.cache.entries(), 1);
  }});
  EXPECT_EQ(router.metrics().values.at("route_cache.hit_pct"), 50);
}

// One bucket: each of the eighth to tenth new destinations evicts the least recently used entry.
TEST(RouteCache, AChainThatIsTooLongLosesTheEntryThatWasNotUsedForLongest) {
  RouteCacheOptions options = small_cache();
  options.hash_buckets = 1;
  options.most_entries_per_bucket = 64;
  options.elasticity = 4;
  options.gc_min_interval_s = 1000;
  Router router(options);
  router.run({[&](Cpu& cpu) {
    for (Value tick = 0; tick < 5; ++tick) {
      cpu.store(router.jiffies, 100 + tick);
      router.fill(cpu, 1);
    }
    EXPECT_TRUE(router.rcu.waiting.empty());
    cpu.store(router.jiffies, 200);
    EXPECT_TRUE(router.cache.look_up(cpu, kFirst));  // a use, which makes the second entry the oldest
    router.fill(cpu, 1);
    EXPECT_EQ(router.rcu.waiting.size(), 1U);
    EXPECT_TRUE(router.cache.look_up(cpu, kFirst));
    EXPECT_FALSE(router.cache.look_up(cpu, kFirst + 1));
  }});
  EXPECT_EQ(router.metrics().values.at("route_cache.freed_by_chains"), 1);
}

// The cache has room for 64 entries. Evicted entries count until their callbacks run.
TEST(RouteCache, EntriesThatWaitForAGracePeriodCountAndFillTheCache) {
  RouteCacheOptions options = small_cache();
  options.elasticity = 2;
  Router router(options);
  router.run({[&](Cpu& cpu) {
    cpu.store(router.jiffies, 1000);
    EXPECT_EQ(router.fill(cpu, 64), 64);
    EXPECT_LT(router.fill(cpu, 100), 100);
    EXPECT_EQ(router.cache.entries(), 64);
    EXPECT_GT(router.rcu.waiting.size(), 10U);
    const auto waiting = static_cast<std::int64_t>(router.rcu.waiting.size());
    router.rcu.synchronize(cpu);
    EXPECT_EQ(router.cache.entries(), 64 - waiting);
    EXPECT_EQ(router.fill(cpu, 5), 5);
  }});
  EXPECT_GT(router.metrics().values.at("route_cache.overflows"), 0);
  EXPECT_EQ(router.metrics().values.at("route_cache.entries_max"), 64);
}

// With as many entries as buckets there is nothing to collect; with more, old entries go once the minimum interval is over.
TEST(RouteCache, TheCollectorBeginsAboveItsThresholdAndNotTooOften) {
  RouteCacheOptions options = small_cache();
  options.most_entries_per_bucket = 64;
  options.elasticity = 64;
  Router router(options);
  router.run({[&](Cpu& cpu) {
    cpu.store(router.jiffies, 1000);
    router.fill(cpu, 16);
    EXPECT_EQ(router.metrics().values.at("route_cache.collections"), 0);
    router.fill(cpu, 30);
    EXPECT_EQ(router.metrics().values.at("route_cache.collections"), 1);
    cpu.store(router.jiffies, 1009);
    router.fill(cpu, 1);
    EXPECT_EQ(router.metrics().values.at("route_cache.collections"), 1);
    cpu.store(router.jiffies, 1500);  // all entries are older than the timeout
    router.fill(cpu, 1);
    EXPECT_EQ(router.metrics().values.at("route_cache.collections"), 2);
  }});
  EXPECT_GT(router.metrics().values.at("route_cache.freed_by_collector"), 0);
}

// CPU 1 walks chains and is interrupted in the middle, while CPU 0 makes entries leave them.
void read_while_entries_go(bool freed_at_once) {
  RouteCacheOptions options = small_cache();
  options.hash_buckets = 1;
  options.most_entries_per_bucket = 2000;
  options.gc_min_interval_s = 1000;
  Router router(options, 2);
  router.rcu.at_once = freed_at_once;
  router.run({[&](Cpu& cpu) {
                for (Value tick = 1; tick <= 3000; ++tick) {
                  cpu.store(router.jiffies, tick);
                  router.fill(cpu, 1);
                }
              },
              [&](Cpu& cpu) {
                cpu.set_interrupt_handler([](Cpu& on, int) {
                  on.set_timer(733, 0);
                  on.compute(400);
                });
                cpu.set_timer(733, 0);
                for (int i = 0; i < 3000; ++i) router.cache.look_up(cpu, kFirst + static_cast<Value>(i) + 1000000);
              }});
}

TEST(RouteCache, ReadersWalkChainsWhileEntriesAreThrownOut) {
  EXPECT_NO_THROW(read_while_entries_go(false));
}

TEST(RouteCache, AReaderWhoFindsAnEntryThatWasFreedTooEarlyStopsTheRun) {
  EXPECT_THROW(read_while_entries_go(true), ModelFailure);
}

}  // namespace
}  // namespace linebounce::test
