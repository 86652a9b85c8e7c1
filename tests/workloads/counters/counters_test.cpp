// Every counter of the registry loses no count, and exactly one put is the last, whatever the timing.
#include "workloads/counters/counters.hpp"

#include <gtest/gtest.h>

#include <tuple>
#include <vector>

#include "models/failure.hpp"
#include "tests/models/support/small_machine.hpp"
#include "workloads/counters/counter_registry.hpp"
#include "workloads/program/barrier.hpp"
#include "workloads/program/random.hpp"

namespace linebounce::test {

using namespace workloads;

namespace {

constexpr int kCpus = 4;

MachineSpec machine(const std::string& kind) {
  MachineSpec spec = kind == "nodes" ? small_nodes(2, kCpus) : small_machine(kCpus);
  if (kind == "threads") spec.cpu.threads_per_core = 2;
  if (kind == "ia64") {
    spec.cpu.consistency = Consistency::ia64;
    spec.cpu.store_buffer_entries = 4;
  }
  return spec;
}

struct Kernel {
  explicit Kernel(const MachineSpec& machine)
      : spec(machine),
        small(spec),
        space(small.machine.store(), spec.has_nodes() ? &small.machine.homes() : nullptr),
        locks(space, kCpus),
        setting{space, locks, spec, small.machine.layout(), 1},
        interrupts(kCpus),
        rcu(make_classic_rcu(setting, interrupts, {.tick_us = 10})),
        percpu(setting, 64),
        begin(space, "begin", kCpus),
        end(space, "end", kCpus) {}

  CounterPlace place() {
    return {.memory = space,
            .locks = locks,
            .percpu = percpu,
            .interrupts = interrupts,
            .rcu = rcu.get(),
            .name = "count",
            .cpus = kCpus};
  }
  void run(const Core::Program& program) {
    small.machine.set_functions(space.functions().size());
    small.run(std::vector<Core::Program>(kCpus, [&](Cpu& cpu) {
      rcu->start(cpu);
      program(cpu);
      const FunctionScope idle(cpu, rcu->idle_function());
      end.wait(cpu);
    }));
  }

  MachineSpec spec;  // `setting` refers to it
  SmallMachine small;
  AddressSpace space;
  LockSet locks;
  WorkloadSetup setting;
  Interrupts interrupts;
  std::unique_ptr<Rcu> rcu;
  PerCpuAllocator percpu;
  Barrier begin, end;
};

std::vector<std::string> names(bool references) {
  std::vector<std::string> out;
  for (const CounterEntry& entry : all_counters()) {
    if (references ? entry.create_reference_count != nullptr : entry.create_counter != nullptr) out.push_back(entry.name);
  }
  return out;
}

using Case = std::tuple<std::string, std::string, std::uint64_t>;
std::string case_name(const testing::TestParamInfo<Case>& tested) {
  const auto& [name, kind, seed] = tested.param;
  return name + "_" + kind + "_" + std::to_string(seed);
}
const auto kKinds = testing::Values("plain", "threads", "ia64", "nodes");

class EachCounter : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(, EachCounter, testing::Combine(testing::ValuesIn(names(false)), kKinds, testing::Values(1, 2)),
                         case_name);

TEST_P(EachCounter, LosesNoCount) {
  const auto& [name, kind, seed] = GetParam();
  Kernel kernel(machine(kind));
  const auto counter = find_counter(name).create_counter(kernel.place());
  std::int64_t expected = 0;
  kernel.run([&, seed = seed](Cpu& cpu) {
    Random random(seed, static_cast<std::uint64_t>(cpu.id().value), 3);
    for (int i = 0; i < 60; ++i) {
      const std::int64_t amount = static_cast<std::int64_t>(random.below(9)) - 3;
      counter->add(cpu, amount);
      expected += amount;
      cpu.compute(static_cast<std::int64_t>(random.below(i % 4 == 0 ? 2000 : 60)));
    }
    kernel.begin.wait(cpu);
    EXPECT_EQ(counter->read(cpu), expected);
  });
}

// Every CPU takes and drops references, at least one until its end; the owner drops its own at a random time.
class EachReferenceCount : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(, EachReferenceCount,
                         testing::Combine(testing::ValuesIn(names(true)), kKinds, testing::Values(1, 2, 3, 4, 5, 6)),
                         case_name);

TEST_P(EachReferenceCount, ExactlyOnePutIsTheLastAndItComesAfterAllOthers) {
  const auto& [name, kind, seed] = GetParam();
  Kernel kernel(machine(kind));
  const auto count = find_counter(name).create_reference_count(kernel.place());
  struct Put {
    Tick from, to;
    bool last;
  };
  std::vector<Put> puts;
  const auto drop = [&](Cpu& cpu, bool owners) {
    const Tick from = cpu.now();
    const bool last = owners ? count->begin_dying(cpu) : count->put(cpu);
    puts.push_back({from, cpu.now(), last});
  };
  std::size_t taken = 1;
  kernel.run([&, seed = seed](Cpu& cpu) {
    const int me = cpu.id().value;
    Random random(seed, static_cast<std::uint64_t>(me), 5);
    count->get(cpu);
    ++taken;
    int held = 1;
    kernel.begin.wait(cpu);
    const std::uint64_t dies = random.below(80);
    for (std::uint64_t step = 0; step < 80; ++step) {
      if (me == 0 && step == dies) drop(cpu, true);
      if (held == 1 || random.below(2) == 0) {
        count->get(cpu);
        ++taken;
        ++held;
      } else {
        drop(cpu, false);
        --held;
      }
      kernel.rcu->quiescent(cpu);
      cpu.compute(static_cast<std::int64_t>(random.below(random.below(8) == 0 ? 4000 : 80)));
    }
    for (; held > 0; --held) drop(cpu, false);
  });
  ASSERT_EQ(puts.size(), taken);
  const Put* last = nullptr;
  for (const Put& put : puts) {
    if (!put.last) continue;
    EXPECT_EQ(last, nullptr);
    last = &put;
  }
  ASSERT_NE(last, nullptr);
  for (const Put& put : puts) EXPECT_LE(put.from, last->to);
}

// While a bigref's owner makes it global, the others take and drop references as fast as they can.
class BigrefSwitch : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(, BigrefSwitch, kKinds, [](const auto& tested) { return tested.param; });

TEST_P(BigrefSwitch, LosesNoReferenceThatIsTakenMeanwhile) {
  constexpr std::size_t kObjects = 30;
  Kernel kernel(machine(GetParam()));
  std::vector<std::unique_ptr<ReferenceCount>> counts;
  PerCpuAllocator percpu(kernel.setting, 8 * kObjects);
  for (std::size_t i = 0; i < kObjects; ++i) {
    CounterPlace place{.memory = kernel.space,
                       .locks = kernel.locks,
                       .percpu = percpu,
                       .interrupts = kernel.interrupts,
                       .rcu = kernel.rcu.get(),
                       .name = "count" + std::to_string(i),
                       .cpus = kCpus};
    counts.push_back(find_counter("bigref").create_reference_count(place));
  }
  std::vector<int> last(kObjects, 0);
  kernel.run([&](Cpu& cpu) {
    Random random(1, static_cast<std::uint64_t>(cpu.id().value), 9);
    for (std::size_t i = 0; i < kObjects; ++i) {
      ReferenceCount& count = *counts[i];
      count.get(cpu);
      {
        const FunctionScope idle(cpu, kernel.rcu->idle_function());
        kernel.begin.wait(cpu);
      }
      if (cpu.id().value == 0) {
        cpu.compute(static_cast<std::int64_t>(random.below(3000)));
        if (count.begin_dying(cpu)) ++last[i];
      }
      for (int round = 0; round < 40; ++round) {
        count.get(cpu);
        EXPECT_FALSE(count.put(cpu));
        kernel.rcu->quiescent(cpu);
      }
      if (count.put(cpu)) ++last[i];
    }
  });
  EXPECT_EQ(last, std::vector<int>(kObjects, 1));
}

class EachCheckedCount : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(, EachCheckedCount, testing::ValuesIn(names(true)), [](const auto& tested) { return tested.param; });

TEST_P(EachCheckedCount, AGetOfWhatNobodyHoldsStopsTheRun) {
  Kernel kernel(machine("plain"));
  const auto count = find_counter(GetParam()).create_reference_count(kernel.place());
  EXPECT_THROW(kernel.run([&](Cpu& cpu) {
    const FunctionScope idle(cpu, kernel.rcu->idle_function());
    if (cpu.id().value != 0) return;
    EXPECT_TRUE(count->begin_dying(cpu));
    count->get(cpu);
  }),
               ModelFailure);
}

TEST_P(EachCheckedCount, APutOfWhatNobodyHoldsStopsTheRun) {
  Kernel kernel(machine("plain"));
  const auto count = find_counter(GetParam()).create_reference_count(kernel.place());
  EXPECT_THROW(kernel.run([&](Cpu& cpu) {
    const FunctionScope idle(cpu, kernel.rcu->idle_function());
    if (cpu.id().value != 0) return;
    EXPECT_TRUE(count->begin_dying(cpu));
    count->put(cpu);
  }),
               ModelFailure);
}

TEST(AllocPercpu, CopiesOfDifferentObjectsShareTheirCpusLineAndNoOther) {
  Kernel kernel(machine("plain"));
  const PerCpu first = kernel.percpu.allocate(8);
  const PerCpu second = kernel.percpu.allocate(4);
  const LineStore& store = kernel.small.machine.store();
  for (int cpu = 0; cpu < kCpus; ++cpu) {
    const Address own = first.of(cpu);
    const Address beside = second.of(cpu);
    EXPECT_NE(own, beside);
    EXPECT_EQ(store.line_of(own), store.line_of(beside));
    for (int other = 0; other < cpu; ++other) EXPECT_NE(store.line_of(own), store.line_of(first.of(other)));
  }
}

TEST(AllocPercpu, ItsLinesAreAtHomeOnTheirCpusNode) {
  const MachineSpec spec = small_nodes(2, 2);
  SmallMachine small(spec);
  AddressSpace space(small.machine.store(), &small.machine.homes());
  LockSet locks(space, 2);
  const MachineLayout layout = small.machine.layout();
  PerCpuAllocator allocator({space, locks, spec, layout, 1}, 64);
  const PerCpu words = allocator.allocate(8);
  for (int cpu = 0; cpu < 2; ++cpu) {
    const LineAddr line = small.machine.store().line_of(words.of(cpu));
    EXPECT_EQ(small.machine.homes().home(line, 0), layout.cpus[static_cast<std::size_t>(cpu)].node);
  }
}

TEST(AllocPercpu, RefusesWhatDoesNotFit) {
  Kernel kernel(machine("plain"));
  kernel.percpu.allocate(56);
  EXPECT_THROW(kernel.percpu.allocate(16), std::length_error);
}

}  // namespace
}  // namespace linebounce::test
