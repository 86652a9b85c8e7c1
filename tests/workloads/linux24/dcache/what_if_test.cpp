// Finer locks and walks with sequence counts: any concurrent operations leave a consistent cache, and a walk writes to no
// directory on its path unless something changes there.
#include <gtest/gtest.h>

#include <array>

#include "sim/config/layout_file.hpp"
#include "tests/workloads/run_workload.hpp"
#include "workloads/linux24/dcache/common.hpp"
#include "workloads/program/barrier.hpp"

namespace linebounce::test {

using namespace workloads;
using namespace sim;
namespace {

constexpr std::array kDesigns = {"parallel_updates", "sequence_walk"};

class FinerLocks : public testing::TestWithParam<std::tuple<const char*, bool>> {};
INSTANTIATE_TEST_SUITE_P(, FinerLocks, testing::Combine(testing::ValuesIn(kDesigns), testing::Bool()), [](const auto& tested) {
  return std::string(std::get<0>(tested.param)) + (std::get<1>(tested.param) ? "_shared" : "_own");
});

// The program checks the whole cache at its end; with four chains, all CPUs meet.
TEST_P(FinerLocks, LeaveAConsistentCacheBehind) {
  const MachineSpec spec = small_machine(4);
  SmallMachine small(spec);
  const LayoutSet layouts = load_layout_file("linux_2_4_16", "").layouts;
  const Metrics metrics = run_workload("namei",
                                       {{"design", std::string(std::get<0>(GetParam()))},
                                        {"shared_directory", std::get<1>(GetParam())},
                                        {"hash_bits", std::int64_t{2}},
                                        {"dentries", std::int64_t{2000}},
                                        {"files", std::int64_t{4}},
                                        {"renames_pct", std::int64_t{60}},
                                        {"user_us", 0.1},
                                        {"component_us", 0.01},
                                        {"follow_us", 0.01},
                                        {"metering_us", 0.0},
                                        {"tick_us", 50.0},
                                        {"operations_per_cpu", std::int64_t{1000}}},
                                       small, spec, layouts);
  EXPECT_GT(metrics.values.at("throughput.files_created_per_s"), 0);
}

// A cache for programs of a test's own.
struct Machinery {
  Machinery(const std::string& design, int cpus)
      : spec(small_machine(cpus)), locks(space, cpus), interrupts(cpus), start(space, "start", cpus) {
    const WorkloadSetup setting{space, locks, spec, small.machine.layout(), 1, &layouts};
    rcu = make_classic_rcu(setting, interrupts, {.tick_us = 50});
    dcache = find_dcache_design(design).create({.memory = space,
                                                .locks = locks,
                                                .layouts = layouts,
                                                .lock = "ttas",
                                                .hash_bits = 2,
                                                .dentries = 4000,
                                                .cpus = cpus,
                                                .interrupts = &interrupts,
                                                .rcu = rcu.get()});
    root_word = space.place_array("root", 32);
  }

  MachineSpec spec;
  SmallMachine small{spec};
  AddressSpace space{small.machine.store()};
  LockSet locks;
  LayoutSet layouts = load_layout_file("linux_2_4_16", "").layouts;
  Interrupts interrupts;
  std::unique_ptr<Rcu> rcu;
  std::unique_ptr<Dcache> dcache;
  Address root_word = 0;
  Barrier start;
};

// One CPU prunes all the time. The others reuse entries, and drop some, while these are still on the list of unused ones.
TEST(FinerLocksPruned, LeaveAConsistentCacheBehind) {
  constexpr int kPruning = 4;
  Machinery machinery("parallel_updates", kPruning);
  Dcache& dcache = *machinery.dcache;
  const Core::Program program = [&](Cpu& cpu) {
    const auto self = static_cast<std::uint64_t>(cpu.id().value);
    Random random(1, self, 0);
    const OneFile negative(0);
    dcache.start(cpu);
    if (self == 0) {
      const Address made = dcache.d_alloc(cpu, kNoDentry, name_of(0));
      cpu.store(machinery.root_word, made);
    }
    machinery.start.wait(cpu);
    const Address root = cpu.load(machinery.root_word);
    for (int round = 0; round < 1500; ++round) {
      if (self == 0) {
        dcache.shrink_dcache_parent(cpu, root);
      } else {
        const Address dentry = dcache.lookup_hash(cpu, root, name_of(10 * self + random.below(3)), negative);
        if (random.below(3) == 0) dcache.d_drop(cpu, dentry);
        dcache.dput(cpu, dentry);
      }
      dcache.quiescent(cpu);
    }
    machinery.start.wait(cpu);
    if (self == 0) dcache.check(cpu, root);
  };
  machinery.small.machine.set_functions(machinery.space.functions().size());
  machinery.small.run(std::vector<Core::Program>(kPruning, program));
}

// Two CPUs: the first walks "directory/file" and takes long in the directory; the second renames it in the meantime, and back.
class WalkAndRename : public testing::Test, protected Machinery {
 protected:
  WalkAndRename() : Machinery("sequence_walk", 2) {}

  void run(bool renamed) {
    const Core::Program walker = [this](Cpu& cpu) { walk(cpu); };
    const Core::Program mover = [this, renamed](Cpu& cpu) { move(cpu, renamed); };
    small.machine.set_functions(space.functions().size());
    small.run({walker, mover});
  }

  void walk(Cpu& cpu) {
    dcache->start(cpu);
    const Address root = dcache->d_alloc(cpu, kNoDentry, name_of(0));
    directory = dcache->d_alloc(cpu, root, name_of(1));
    dcache->d_add(cpu, directory, 0);
    const Address file = dcache->d_alloc(cpu, directory, name_of(2));
    dcache->d_add(cpu, file, 0);
    cpu.store(root_word, root);
    start.wait(cpu);
    PathTimes times({.component = 0, .follow = 100000}, Random(1, 0, 0));
    const std::array path = {name_of(1), name_of(2)};
    found = dcache->link_path_walk(cpu, root, path, times) == file;
    start.wait(cpu);
    const DentryFields field(layouts.find("dentry_seq"));
    referenced = (cpu.load(directory + field.d_vfs_flags, kWordBytes) & kReferenced) != 0;
    directory_count = cpu.load(directory + field.d_count, kWordBytes);
    file_count = cpu.load(file + field.d_count, kWordBytes);
    dcache->check(cpu, root);
  }

  void move(Cpu& cpu, bool renamed) {
    dcache->start(cpu);
    start.wait(cpu);
    const Address root = cpu.load(root_word);
    cpu.compute(3000);
    for (const std::uint64_t name : {3, 1}) {
      if (!renamed) break;
      const Address target = dcache->d_alloc(cpu, root, name_of(name));
      dcache->d_rehash(cpu, target);
      dcache->d_move(cpu, directory, target);
      dcache->dput(cpu, target);
    }
    start.wait(cpu);
  }

  Address directory = 0;  // written before `start` is set, and read after it
  bool found = false, referenced = false;
  Value directory_count = 0, file_count = 0;
};

TEST_F(WalkAndRename, AWalkWritesToNoDirectoryThatItPasses) {
  run(false);
  EXPECT_TRUE(found);
  EXPECT_FALSE(referenced);
  EXPECT_EQ(directory_count, 2) << "its own, and the file's";
  EXPECT_EQ(file_count, 2);
}

TEST_F(WalkAndRename, AWalkThatMeetsARenameStartsAgainWithReferences) {
  run(true);
  EXPECT_TRUE(found);
  EXPECT_TRUE(referenced);
  EXPECT_EQ(directory_count, 2);
  EXPECT_EQ(file_count, 2);
}

}  // namespace
}  // namespace linebounce::test
