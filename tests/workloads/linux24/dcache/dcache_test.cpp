// The dentry cache: every design keeps counts, lists and chains consistent under any interleaving, and freeing an entry that a
// CPU still sees stops the run.
#include <gtest/gtest.h>

#include "models/failure.hpp"
#include "sim/config/layout_file.hpp"
#include "tests/workloads/run_workload.hpp"
#include "workloads/linux24/dcache/designs.hpp"
#include "workloads/program/barrier.hpp"

namespace linebounce::test {

using namespace workloads;
using namespace sim;
namespace {

constexpr int kCpus = 4;

struct Variant {
  std::string design;
  bool locked_dput;
};

std::vector<Variant> variants() {
  std::vector<Variant> all;
  for (const std::string& design : dcache_design_names()) {
    all.push_back({design, false});
    all.push_back({design, true});
  }
  return all;
}

std::string name_of_variant(const testing::TestParamInfo<Variant>& tested) {
  return tested.param.design + (tested.param.locked_dput ? "_locked_dput" : "");
}

class EachDesign : public testing::TestWithParam<Variant> {};
INSTANTIATE_TEST_SUITE_P(, EachDesign, testing::ValuesIn(variants()), name_of_variant);

// Very little time outside the cache, few chains that all CPUs share, and frequent ticks. The program checks the whole cache at
// its end.
std::map<std::string, ParameterValue> in_a_hurry(const Variant& variant) {
  return {{"design", variant.design},
          {"locked_dput", variant.locked_dput},
          {"hash_bits", std::int64_t{2}},
          {"dentries", std::int64_t{2000}},
          {"clients", std::int64_t{5}},
          {"directories", std::int64_t{2}},
          {"files_per_directory", std::int64_t{8}},
          {"user_us", 1.0},
          {"lru_list_sections", std::int64_t{0}},
          {"get_block_us", 0.1},
          {"before_walk_us", 0.1},
          {"metadata_us", 0.1},
          {"truncate_us", 0.2},
          {"open_us", 1.0},
          {"metering_us", 0.01},
          {"component_us", 0.01},
          {"follow_us", 0.01},
          {"tick_us", 50.0},
          {"lru_timer_us", 70.0},
          {"walks_per_cpu", std::int64_t{400}}};
}

TEST_P(EachDesign, LeavesAConsistentCacheBehind) {
  const MachineSpec spec = small_machine(kCpus);
  SmallMachine small(spec);
  const LayoutSet layouts = load_layout_file("linux_2_4_16", "").layouts;
  const Metrics metrics = run_workload("dbench", in_a_hurry(GetParam()), small, spec, layouts);
  EXPECT_GT(metrics.values.at("throughput.operations_per_s"), 0);
}

// A cache for a test's own programs.
class Cache {
 public:
  explicit Cache(const std::string& design, int cpus = 1)
      : spec_(small_machine(cpus)),
        small(spec_),
        space(small.machine.store()),
        locks(space, cpus),
        layouts(load_layout_file("linux_2_4_16", "").layouts),
        interrupts(cpus) {
    const WorkloadSetup setting{space, locks, spec_, small.machine.layout(), 1, &layouts};
    if (find_dcache_design(design).defers_freeing) rcu = make_classic_rcu(setting, interrupts, {.tick_us = 50});
    dcache = find_dcache_design(design).create({.memory = space,
                                                .locks = locks,
                                                .layouts = layouts,
                                                .lock = "ttas",
                                                .hash_bits = 4,
                                                .dentries = 64,
                                                .cpus = cpus,
                                                .interrupts = &interrupts,
                                                .rcu = rcu.get(),
                                                .lru_timer_us = 1000});
  }
  void run(const Core::Program& program) {
    small.machine.set_functions(space.functions().size());
    small.run({program});
  }

 private:
  MachineSpec spec_;

 public:
  SmallMachine small;
  AddressSpace space;
  LockSet locks;
  LayoutSet layouts;
  Interrupts interrupts;
  std::unique_ptr<Rcu> rcu;
  std::unique_ptr<Dcache> dcache;
};

class EachDesignAlone : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(, EachDesignAlone, testing::ValuesIn(dcache_design_names()),
                         [](const auto& tested) { return tested.param; });

TEST_P(EachDesignAlone, FindsWhatWasAddedUnderItsNameAndNoOther) {
  Cache cache(GetParam());
  cache.run([&](Cpu& cpu) {
    Dcache& dcache = *cache.dcache;
    dcache.start(cpu);
    const Address root = dcache.d_alloc(cpu, kNoDentry, name_of(0));
    EXPECT_EQ(dcache.d_lookup(cpu, root, name_of(1)), kNoDentry);
    const Address added = dcache.d_alloc(cpu, root, name_of(1));
    EXPECT_EQ(dcache.d_lookup(cpu, root, name_of(1)), kNoDentry) << "it is not hashed yet";
    dcache.d_add(cpu, added, 0);
    dcache.dput(cpu, added);
    EXPECT_EQ(dcache.d_lookup(cpu, root, name_of(1)), added);
    EXPECT_EQ(dcache.d_lookup(cpu, root, name_of(2)), kNoDentry);
    dcache.dput(cpu, added);
    dcache.check(cpu, root);
  });
}

TEST_P(EachDesignAlone, AMovedEntryIsFoundUnderItsNewNameOnly) {
  Cache cache(GetParam());
  cache.run([&](Cpu& cpu) {
    Dcache& dcache = *cache.dcache;
    dcache.start(cpu);
    const Address root = dcache.d_alloc(cpu, kNoDentry, name_of(0));
    const Address moved = dcache.d_alloc(cpu, root, name_of(1));
    dcache.d_add(cpu, moved, 0);
    const Address target = dcache.d_alloc(cpu, root, name_of(2));
    dcache.d_add(cpu, target, 0);
    dcache.d_move(cpu, moved, target);
    dcache.dput(cpu, target);
    dcache.dput(cpu, moved);
    EXPECT_EQ(dcache.d_lookup(cpu, root, name_of(1)), kNoDentry);
    EXPECT_EQ(dcache.d_lookup(cpu, root, name_of(2)), moved);
    dcache.dput(cpu, moved);
    dcache.check(cpu, root);
  });
}

TEST_P(EachDesignAlone, ShrinkingFreesWhatNobodyUsesAndLeavesTheRest) {
  Cache cache(GetParam());
  cache.run([&](Cpu& cpu) {
    Dcache& dcache = *cache.dcache;
    dcache.start(cpu);
    const Address root = dcache.d_alloc(cpu, kNoDentry, name_of(0));
    for (std::uint64_t name = 1; name <= 6; ++name) {
      const Address dentry = dcache.d_alloc(cpu, root, name_of(name));
      dcache.d_add(cpu, dentry, 0);
      if (name > 2) dcache.dput(cpu, dentry);
    }
    dcache.shrink_dcache_parent(cpu, root);
    for (std::uint64_t name = 1; name <= 6; ++name)
      EXPECT_EQ(dcache.d_lookup(cpu, root, name_of(name)) != kNoDentry, name <= 2) << name;
    dcache.check(cpu, root);
  });
}

TEST_P(EachDesignAlone, AReferenceGivenUpTwiceStopsTheRun) {
  Cache cache(GetParam());
  const auto run = [&] {
    cache.run([&](Cpu& cpu) {
      Dcache& dcache = *cache.dcache;
      dcache.start(cpu);
      const Address root = dcache.d_alloc(cpu, kNoDentry, name_of(0));
      const Address dentry = dcache.d_alloc(cpu, root, name_of(1));
      dcache.dput(cpu, dentry);  // unhashed: freed at once, or only after a grace period
      for (int i = 0; i < 400; ++i) {
        dcache.quiescent(cpu);
        cpu.compute(1000);
        cpu.now();
      }
      dcache.dput(cpu, dentry);
    });
  };
  EXPECT_THROW(run(), ModelFailure);
}

TEST(Dcache, TheCheckFindsACountThatIsTooSmall) {
  Cache cache("global_lock");
  const auto run = [&] {
    cache.run([&](Cpu& cpu) {
      Dcache& dcache = *cache.dcache;
      const Address root = dcache.d_alloc(cpu, kNoDentry, name_of(0));
      const Address dentry = dcache.d_alloc(cpu, root, name_of(1));
      dcache.d_add(cpu, dentry, 0);
      dcache.check(cpu, root);
      cpu.store(dentry + offset_of(cache.layouts.find("dentry"), "d_count"), 0, kWordBytes);
      dcache.check(cpu, root);
    });
  };
  EXPECT_THROW(run(), ModelFailure);
}

// Walks hash chains without a lock, like rcu_lookup, but frees entries at once.
class NoGracePeriod final : public Dcache {
 public:
  explicit NoGracePeriod(const DcacheSetup& setup) : Dcache(setup, "dentry") {}
  Address d_lookup(Cpu& cpu, Address parent, const Name& name) override {
    const Address dentry = find(cpu, parent, name);
    return dentry == kNoDentry ? dentry : dget(cpu, dentry);
  }
};

TEST(Dcache, AReaderOfAChainWhoMeetsAFreedEntryStopsTheRun) {
  const MachineSpec spec = small_machine(2);
  SmallMachine small(spec);
  AddressSpace space(small.machine.store());
  LockSet locks(space, 2);
  const LayoutSet layouts = load_layout_file("linux_2_4_16", "").layouts;
  NoGracePeriod dcache(
      {.memory = space, .locks = locks, .layouts = layouts, .lock = "ttas", .hash_bits = 2, .dentries = 64, .cpus = 2});
  const Address root_word = space.place_array("root", 32);
  const Barrier start(space, "start", 2);
  const Core::Program program = [&](Cpu& cpu) {
    if (cpu.id().value == 0) {
      const Address root = dcache.d_alloc(cpu, kNoDentry, name_of(0));
      cpu.store(root_word, root);
    }
    start.wait(cpu);
    const Address root = cpu.load(root_word);
    for (int round = 0; round < 300; ++round) {
      if (cpu.id().value == 0) {
        const Address dentry = dcache.d_alloc(cpu, root, name_of(1));
        dcache.set_delete(cpu, dentry);
        dcache.d_add(cpu, dentry, 0);
        dcache.dput(cpu, dentry);
      } else {
        const Address found = dcache.d_lookup(cpu, root, name_of(1));
        cpu.compute(7 * (round % 5));
        if (found != kNoDentry) dcache.dput(cpu, found);
      }
    }
  };
  small.machine.set_functions(space.functions().size());
  EXPECT_THROW(small.run({program, program}), ModelFailure);
}

}  // namespace
}  // namespace linebounce::test
