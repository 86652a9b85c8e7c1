// References to dentries balance, and a lock's spinning is counted in the function where the kernel spins.
#include <gtest/gtest.h>

#include "tests/workloads/run_workload.hpp"
#include "workloads/linux24/files/proc_directory.hpp"
#include "workloads/program/barrier.hpp"

namespace linebounce::test {

using namespace workloads;

namespace {

constexpr int kReaders = 3;

struct Directory {
  explicit Directory(const MachineSpec& spec) : small(spec) {}
  SmallMachine small;
  AddressSpace space{small.machine.store()};
  LockSet locks{space, kReaders};
  ProcDirectory directory{{space, locks, "ttas", "ttas", "mutex", kReaders, 3}, {10, 10, 300, 1000, 10}};

  [[nodiscard]] std::int64_t taken(const std::string& lock, const std::string& call_site) const {
    for (const auto& [function, use] : locks.figures().at(lock).by_call_site()) {
      if (space.functions()[function].name == call_site) return use.nowait + use.spin;
    }
    return 0;
  }
  Tick time_in(const std::string& function) {
    Tick time = 0;
    for (std::size_t i = 0; i < space.functions().size(); ++i) {
      if (space.functions()[i].name != function) continue;
      for (int cpu = 0; cpu < kReaders; ++cpu) time += small.machine.cpu(cpu).counters().time_in_function[i];
    }
    return time;
  }
};

constexpr int kRounds = 30;

// Each round opens one file: the process's dentry and the file's dentry lose their last reference, /proc's does not.
TEST(ProcDirectory, OnlyLastReferencesTakeTheDcacheLock) {
  Directory proc(small_machine(kReaders));
  proc.small.machine.set_functions(proc.space.functions().size());
  proc.small.run(std::vector<Core::Program>(kReaders, [&](Cpu& cpu) {
    for (int round = 0; round < kRounds; ++round) proc.directory.open_and_close(cpu);
  }));
  const std::int64_t last = kReaders * kRounds * 2;
  EXPECT_EQ(proc.taken("dcache_lock", "atomic_dec_and_lock"), last);
  EXPECT_EQ(proc.taken("d_lock", "__d_lookup"), kReaders * kRounds * 3);
}

TEST(ProcDirectory, SpinningIsCountedOutOfLineByCaller) {
  Directory proc(small_machine(kReaders));
  proc.small.machine.set_functions(proc.space.functions().size());
  proc.small.run(std::vector<Core::Program>(kReaders, [&](Cpu& cpu) {
    for (int round = 0; round < kRounds; ++round) {
      proc.directory.open_and_close(cpu);
      proc.directory.replace_process(cpu);
      proc.directory.read_directory(cpu, [] {});
    }
  }));
  for (const char* function : {"text_lock_dec_and_lock", "text_lock_dcache", "text_lock_libfs"})
    EXPECT_GT(proc.time_in(function), 0) << function;
  EXPECT_EQ(proc.taken("dcache_lock", "d_alloc"), kReaders * kRounds * 2);
  EXPECT_EQ(proc.taken("dcache_lock", "dcache_readdir"), kReaders * kRounds * 4);
}

TEST(MultiUser, RunsWithReadersThatSleepInsideTheDirectorysLock) {
  const MachineSpec spec = small_machine(kReaders);
  SmallMachine small(spec, {}, 5, 500);
  const Metrics metrics = run_workload(
      "multi_user", {{"readdir_sleeps_us", 5.0}, {"rounds_of_readdir", std::int64_t{2}}, {"user_us", 2.0}}, small, spec);
  EXPECT_GT(metrics.values.at("throughput.operations_per_s"), 10000);
}

}  // namespace
}  // namespace linebounce::test
