// HAMMER's buffer cache, flush groups and inodes: what each of the four changes changes.
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "models/failure.hpp"
#include "tests/workloads/run_workload.hpp"
#include "workloads/dragonfly/buffer_cache.hpp"

namespace linebounce::test {

using namespace workloads;

namespace {

constexpr std::int64_t kInodes = 40;

MachineSpec hammer_machine(int cpus) {
  MachineSpec spec = small_machine(cpus);
  spec.caches[1].size_kib = 64;
  return spec;
}

// One reader, one writer and the flusher, with a disk that is fast enough for a test.
Metrics run_hammer(std::map<std::string, ParameterValue> changed, int cpus = 3, double run_us = 20000) {
  const std::map<std::string, ParameterValue> small_load = {
      {"blocks", std::int64_t{64}},        {"buffers", std::int64_t{16}},    {"inodes", kInodes},
      {"uneven_inodes", std::int64_t{20}}, {"even_inodes", std::int64_t{5}}, {"meta_buffers", std::int64_t{30}},
      {"meta_extents", std::int64_t{2}},   {"write_speed", 200.0},           {"series_us", 100.0}};
  for (const auto& [name, value] : small_load) changed.try_emplace(name, value);
  const MachineSpec spec = hammer_machine(cpus);
  SmallMachine small(spec, EngineSpec{}, 0, run_us);
  return run_workload("hammer", changed, small, spec);
}

double most(const std::vector<SeriesSample>& series) {
  double most = 0;
  for (const SeriesSample& sample : series) most = std::max(most, sample.value);
  return most;
}

std::vector<double> groups_of(const Metrics& metrics) {
  std::vector<double> inodes;
  for (const SeriesSample& sample : metrics.all_series.at("hammer.inodes_in_flush")) {
    if (sample.value > 0) inodes.push_back(sample.value);
  }
  return inodes;
}

TEST(Hammer, EvenGroupsAllHaveTheirSize) {
  const std::vector<double> groups = groups_of(run_hammer({{"flush_groups", "even"}}));
  ASSERT_GT(groups.size(), 4U);
  for (const double inodes : groups) EXPECT_EQ(inodes, 5);
}

TEST(Hammer, AnUnevenGroupIsAllThatHasComeMeanwhile) {
  const std::vector<double> groups = groups_of(run_hammer({}));
  ASSERT_GT(groups.size(), 2U);
  EXPECT_GE(*std::min_element(groups.begin(), groups.end()), 20);
  EXPECT_LE(*std::max_element(groups.begin(), groups.end()), kInodes);
  EXPECT_NE(groups[0], groups[1]);
}

// 20 inodes and more in one stretch of 0.1 ms, or as many as buffers reach the disk in it: a write takes some 5 us, and an
// inode has two buffers of its own.
TEST(Hammer, InodesAreFreedAtOnceOrAtTheDisksRate) {
  const Metrics at_once = run_hammer({});
  const Metrics steady = run_hammer({{"inodes_freed", "steady"}});
  constexpr double kPerStretch = 1e6 / 100;
  EXPECT_GE(most(at_once.all_series.at("hammer.inodes_freed_per_s")), 20 * kPerStretch);
  EXPECT_LE(most(steady.all_series.at("hammer.inodes_freed_per_s")), 15 * kPerStretch);
  EXPECT_LT(steady.values.at("hammer.inode_wait_longest_ms"), at_once.values.at("hammer.inode_wait_longest_ms"));
}

TEST(Hammer, SortedBuffersSeekLess) {
  const Metrics list = run_hammer({});
  const Metrics sorted = run_hammer({{"flush_order", "sorted"}});
  EXPECT_LT(sorted.values.at("hammer.disk_seeks_pct"), 0.5 * list.values.at("hammer.disk_seeks_pct"));
  EXPECT_LT(sorted.values.at("hammer.disk_write_mean_us"), list.values.at("hammer.disk_write_mean_us"));
}

// The flusher has the lock for 20 times 75 us / 200 and more; a read takes 15 us without it.
TEST(Hammer, AReadWaitsForTheFlusherOnlyIfItTakesTheLock) {
  const Metrics locked = run_hammer({{"sync_us", 2000.0}});
  const Metrics unlocked = run_hammer({{"sync_us", 2000.0}, {"lock_before_getblk", false}});
  EXPECT_GT(locked.values.at("hammer.read_longest_us"), 150);
  EXPECT_LT(unlocked.values.at("hammer.read_longest_us"), 60);
}

TEST(Hammer, AllBlocksHaveBuffersWhereThereAreEnough) {
  EXPECT_EQ(run_hammer({{"buffers", std::int64_t{64}}}).values.at("hammer.buffers_made_pct"), 0);
  EXPECT_NEAR(run_hammer({}).values.at("hammer.buffers_made_pct"), 75, 5);
}

TEST(Hammer, ReadersWritersAndFlusherNeedACpuEach) {
  EXPECT_THROW(run_hammer({{"writers", std::int64_t{2}}}), std::invalid_argument);
  EXPECT_THROW(run_hammer({{"uneven_inodes", kInodes + 1}}), std::invalid_argument);
  EXPECT_THROW(run_hammer({{"buffers", std::int64_t{65}}}), std::invalid_argument);
}

// A cache of 16 buffers for 64 blocks, the first 16 of which have one at first.
class CacheMachine {
 public:
  explicit CacheMachine(int cpus) : spec_(hammer_machine(cpus)), small_(spec_), interrupts_(cpus) {
    const WorkloadSetup setting{space_, locks_, spec_, small_.machine.layout(), 1};
    cache.emplace(setting, BufferCacheOptions{.blocks = 64, .buffers = 16, .getblk_us = 1, .invalidate = true}, interrupts_);
  }
  void run(std::vector<Core::Program> programs) {
    small_.machine.set_functions(space_.functions().size());
    for (Core::Program& program : programs) {
      program = [this, program](Cpu& cpu) {
        interrupts_.start(cpu);
        program(cpu);
      };
    }
    small_.run(std::move(programs));
  }

 private:
  MachineSpec spec_;
  SmallMachine small_;
  AddressSpace space_{small_.machine.store()};
  LockSet locks_{space_, spec_.cpus};
  Interrupts interrupts_;

 public:
  std::optional<BufferCache> cache;
};

TEST(BufferCache, ABlockWithoutABufferGetsTheOneThatWasUnusedLongest) {
  CacheMachine machine(1);
  machine.run({[&](Cpu& cpu) {
    BufferCache& cache = *machine.cache;
    cache.release(cpu, cache.find(cpu, 0));  // used again: the next to go is that of block 1
    EXPECT_EQ(cache.find(cpu, 40), 0U);
    const Address buffer = cache.getblk(cpu, 40);
    EXPECT_EQ(cpu.load(cache.data(cpu, buffer, 40)) >> 32, 40U);
    cache.release(cpu, buffer);
    EXPECT_EQ(cache.find(cpu, 1), 0U);
    for (const std::uint64_t block : {0, 2, 40}) EXPECT_NE(cache.find(cpu, block), 0U) << block;
  }});
}

TEST(BufferCache, ABufferInUseStays) {
  CacheMachine machine(1);
  machine.run({[&](Cpu& cpu) {
    BufferCache& cache = *machine.cache;
    const Address held = cache.find(cpu, 0);
    for (std::uint64_t block = 16; block < 64; ++block) cache.release(cpu, cache.getblk(cpu, block));
    EXPECT_EQ(cache.find(cpu, 0), held);
    EXPECT_EQ(cpu.load(cache.data(cpu, held, 0)) >> 32, 0U);
  }});
}

TEST(BufferCache, TheWrongBlocksBufferIsNoticed) {
  CacheMachine machine(1);
  machine.run({[&](Cpu& cpu) {
    const Address buffer = machine.cache->getblk(cpu, 20);
    EXPECT_THROW(static_cast<void>(machine.cache->data(cpu, buffer, 21)), ModelFailure);
  }});
}

// All make buffers of the same few blocks at once: a block never has two, and what one CPU writes the others read.
TEST(BufferCache, CpusThatMakeABlocksBufferTogetherShareOne) {
  constexpr int kCpus = 4;
  constexpr std::uint64_t kRounds = 60;
  CacheMachine machine(kCpus);
  const Core::Program program = [&](Cpu& cpu) {
    BufferCache& cache = *machine.cache;
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      const std::uint64_t block = round * 7 % 64;
      const Address buffer = cache.getblk(cpu, block);
      cpu.fetch_add(cache.data(cpu, buffer, block), 1);
      cache.release(cpu, buffer);
    }
  };
  std::vector<Core::Program> programs(kCpus, program);
  programs[0] = [&](Cpu& cpu) {
    program(cpu);
    cpu.compute(1000000);  // the others are through
    Value sum = 0;
    for (std::uint64_t block = 0; block < 64; ++block) {
      const Address buffer = machine.cache->getblk(cpu, block);
      const Value value = cpu.load(machine.cache->data(cpu, buffer, block));
      EXPECT_EQ(value >> 32, block);
      sum += value & 0xFFFFFFFF;
      machine.cache->release(cpu, buffer);
    }
    EXPECT_EQ(sum, kCpus * kRounds);
  };
  machine.run(programs);
}

}  // namespace
}  // namespace linebounce::test
