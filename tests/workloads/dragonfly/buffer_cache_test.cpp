// The buffer cache: which buffer is evicted, which stays, and that a block never has two.
#include "workloads/dragonfly/buffer_cache.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "models/failure.hpp"
#include "tests/models/support/small_machine.hpp"

namespace linebounce::test {

using namespace workloads;

namespace {

// A cache of 16 buffers for 64 blocks; initially the first 16 blocks have one. Several CPUs end their programs at different
// times, and then answer no interrupts.
class CacheMachine {
 public:
  explicit CacheMachine(int cpus) : spec_(small_machine(cpus)), small_(spec_), interrupts_(cpus) {
    const WorkloadSetup setting{space_, locks_, spec_, small_.machine.layout(), 1};
    cache.emplace(setting, BufferCacheOptions{.blocks = 64, .buffers = 16, .getblk_us = 1, .invalidate = cpus == 1},
                  interrupts_);
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
    cache.release(cpu, cache.find(cpu, 0));  // used again, so block 1's buffer is the next to go
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

// All CPUs make buffers for the same few blocks at once: a block never has two, and each CPU reads what others write.
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
    cpu.compute(1000000);  // by then the others are done
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
