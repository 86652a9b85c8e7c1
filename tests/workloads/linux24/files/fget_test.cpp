// From a descriptor to its file: references are kept under every design, and each design omits exactly the operations that it
// saves.
#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/workloads/run_workload.hpp"
#include "workloads/linux24/files/file_table.hpp"
#include "workloads/program/barrier.hpp"

namespace linebounce::test {

using namespace workloads;

namespace {

constexpr int kCpus = 3;
constexpr FileTableCosts kFree{};

class EachDesign : public testing::TestWithParam<FileTableDesign> {};
INSTANTIATE_TEST_SUITE_P(, EachDesign,
                         testing::Values(FileTableDesign::rwlock, FileTableDesign::rcu, FileTableDesign::fget_light));

// All CPUs take and drop the same file again and again: only the table's own reference is left.
TEST_P(EachDesign, EveryReferenceThatIsTakenIsDropped) {
  SmallMachine small(small_machine(kCpus));
  AddressSpace space(small.machine.store());
  LockSet locks(space, kCpus);
  FileTable table({space, locks, "files", "rwlock", kCpus}, GetParam(), KernelAtomics(true), kFree);
  const Address file = FileTable::place_file(space, "file");
  table.install(space, 3, file);
  const Barrier end(space, "end", kCpus);
  small.machine.set_functions(space.functions().size());
  const Core::Program program = [&](Cpu& cpu) {
    for (int round = 0; round < 50; ++round) {
      const FileTable::Held held = table.get(cpu, 3);
      EXPECT_EQ(held.file, file);
      EXPECT_TRUE(held.counted) << "the table is shared";
      EXPECT_GE(cpu.load(file + FileTable::kCount, 4), 2U);
      EXPECT_FALSE(table.put(cpu, held)) << "the table still has one";
    }
    end.wait(cpu);
    EXPECT_EQ(cpu.load(file + FileTable::kCount, 4), 1U);
  };
  small.run(std::vector<Core::Program>(kCpus, program));
}

TEST_P(EachDesign, ADescriptorWithoutAFileFindsNone) {
  SmallMachine small(small_machine(1));
  AddressSpace space(small.machine.store());
  LockSet locks(space, 1);
  FileTable table({space, locks, "files", "rwlock", 2}, GetParam(), KernelAtomics(true), kFree);
  small.machine.set_functions(space.functions().size());
  small.run({[&](Cpu& cpu) {
    EXPECT_EQ(table.get(cpu, 3).file, 0U);
    EXPECT_EQ(table.get(cpu, FileTable::kFiles).file, 0U) << "beyond the table";
  }});
}

TEST(FgetLight, TakesNoReferenceWhileTheTableIsOneTasks) {
  SmallMachine small(small_machine(1));
  AddressSpace space(small.machine.store());
  LockSet locks(space, 1);
  FileTable table({space, locks, "files", "rwlock", 1}, FileTableDesign::fget_light, KernelAtomics(true), kFree);
  const Address file = FileTable::place_file(space, "file");
  table.install(space, 0, file);
  small.machine.set_functions(space.functions().size());
  small.run({[&](Cpu& cpu) {
    const FileTable::Held held = table.get(cpu, 0);
    EXPECT_EQ(held.file, file);
    EXPECT_FALSE(held.counted);
    EXPECT_EQ(cpu.load(file + FileTable::kCount, 4), 1U);
  }});
}

// The last reference was dropped and the file is being freed: a reader that still finds it must not take it.
TEST(FgetByRcu, DoesNotTakeAFileThatIsBeingFreed) {
  SmallMachine small(small_machine(1));
  AddressSpace space(small.machine.store());
  LockSet locks(space, 1);
  FileTable table({space, locks, "files", "rwlock", 2}, FileTableDesign::rcu, KernelAtomics(true), kFree);
  const Address file = FileTable::place_file(space, "file");
  table.install(space, 0, file);
  small.machine.set_functions(space.functions().size());
  small.run({[&](Cpu& cpu) {
    cpu.store(file + FileTable::kCount, 0, 4);
    EXPECT_EQ(table.get(cpu, 0).file, 0U);
    EXPECT_EQ(cpu.load(file + FileTable::kCount, 4), 0U);
  }});
}

// The time of a call and its end with all lines in L1: an atomic operation takes 20 cycles, a load 2. Three loads find the
// file.
double call_ns(FileTableDesign design, bool smp) {
  SmallMachine small(small_machine(1));
  AddressSpace space(small.machine.store());
  LockSet locks(space, 1);
  FileTable table({space, locks, "files", "rwlock", 1}, design, KernelAtomics(smp), kFree);
  table.install(space, 0, FileTable::place_file(space, "file"));
  small.machine.set_functions(space.functions().size());
  double ns = 0;
  small.run({[&](Cpu& cpu) {
    for (int round = 0; round < 2; ++round) {
      const double begin = cpu.now_ns();
      const FileTable::Held held = table.get(cpu, 0);
      table.put(cpu, held);
      ns = cpu.now_ns() - begin;
    }
  }});
  return ns;
}
// Lock, reference, unlock, reference again.
TEST(Fget, UnderTheLockCostsFourAtomicOperations) {
  EXPECT_EQ(call_ns(FileTableDesign::rwlock, true), 4 * 20 + 3 * 2);
}
// The count is loaded, raised by a compare-exchange (30 cycles), and dropped.
TEST(Fget, ByRcuCostsTwoLockedOperations) {
  EXPECT_EQ(call_ns(FileTableDesign::rcu, true), 30 + 20 + 4 * 2);
}
// Loads the owner of the table, and the file.
TEST(Fget, LightCostsNoLockedOperation) {
  EXPECT_EQ(call_ns(FileTableDesign::fget_light, true), 4 * 2);
}
// No lock; the count is loaded and stored, twice; a store takes 1 cycle.
TEST(Fget, InAKernelForOneCpuTakesOnlyLoadsAndStores) {
  EXPECT_EQ(call_ns(FileTableDesign::rwlock, false), 3 * 2 + 2 * (2 + 1));
}

void run_fget(const std::map<std::string, ParameterValue>& changed, int cpus) {
  const MachineSpec spec = small_machine(cpus);
  SmallMachine small(spec, {}, 5, 100);
  run_workload("fget", changed, small, spec);
}

TEST(Fget, AKernelForOneCpuRefusesTwo) {
  EXPECT_THROW(run_fget({{"smp", false}}, 2), std::invalid_argument);
}

TEST(Fget, AtMostSixteenCpusShareATable) {
  EXPECT_THROW(run_fget({{"shared_table", true}}, 17), std::invalid_argument);
}

}  // namespace
}  // namespace linebounce::test
