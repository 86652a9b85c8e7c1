// TLB shootdowns: which CPUs wait for which, and what it costs.
#include "workloads/program/shootdown.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "tests/workloads/run_workload.hpp"

namespace linebounce::test {
namespace {

constexpr Address kMapping = 0x4000000;

MachineSpec pages_of_100_cycles(int cpus) {
  MachineSpec spec = small_machine(cpus);
  spec.cpu.page_invalidation_cycles = 100;
  spec.cpu.tlb_flush_cycles = 1000;
  return spec;
}

// A machine with shootdowns; each program answers interrupts from its start.
struct Shot {
  explicit Shot(const MachineSpec& spec)
      : small(spec),
        memory(small.machine.store()),
        interrupts(spec.cpus),
        shootdowns(memory, small.machine.layout().cpus, interrupts) {}

  void run(std::vector<Core::Program> programs) {
    small.machine.set_functions(memory.functions().size());
    for (Core::Program& program : programs) {
      program = [this, body = program](Cpu& cpu) {
        interrupts.start(cpu);
        body(cpu);
      };
    }
    small.run(std::move(programs));
  }

  SmallMachine small;
  AddressSpace memory;
  Interrupts interrupts;
  Shootdowns shootdowns;
};

// Answers interrupts for this long. A computation at the end of a program counts as done when it begins.
Core::Program compute_for(std::int64_t cycles) {
  return [cycles](Cpu& cpu) {
    cpu.compute(cycles);
    cpu.now();
  };
}

// Measures the second shootdown, when the order's line is in the cache: two stores to it, and three pages.
TEST(Shootdown, WithoutOtherCpusCostsOnlyTheLocalInvalidation) {
  Shot shot(pages_of_100_cycles(1));
  const std::array<CpuId, 1> self = {CpuId(0)};
  shot.run({[&](Cpu& cpu) {
    shot.shootdowns.shoot_down(cpu, self, kMapping, 1);
    EXPECT_EQ(cycles_from(cpu, 2000, [&] { shot.shootdowns.shoot_down(cpu, self, kMapping, 3); }), 2 + 300);
  }});
}

// The interrupt takes 100 ns, and 50 cycles to its handler. The handler drops 100 pages; that is more than 33, so it flushes
// the whole TLB in 1000 cycles. Six lines are transferred besides, each in at most 146 cycles plus the rounding to bus
// clocks: before, head and request to the sender; then the queue's head, the request and the order to the receiver; at the
// end, the request back.
TEST(Shootdown, WaitsUntilTheOtherHasDroppedItsTranslations) {
  Shot shot(pages_of_100_cycles(2));
  const std::array<CpuId, 2> both = {CpuId(0), CpuId(1)};
  shot.run({[&](Cpu& cpu) {
              const double taken = cycles_from(cpu, 2000, [&] { shot.shootdowns.shoot_down(cpu, both, kMapping, 100); });
              EXPECT_GT(taken, 100 + 50 + 1000);
              EXPECT_LT(taken, 100 + 50 + 1000 + 8 * 160);
            },
            compute_for(10000)});
}

// Each handler interrupts the other CPU's wait.
TEST(Shootdown, EndsForTwoCpusThatShootDownEachOtherAtOnce) {
  Shot shot(pages_of_100_cycles(4));
  const std::array<CpuId, 4> all = {CpuId(0), CpuId(1), CpuId(2), CpuId(3)};
  const Core::Program shoots = [&](Cpu& cpu) {
    for (int i = 0; i < 20; ++i) {
      cpu.compute(100 + 37 * cpu.id().value);
      shot.shootdowns.shoot_down(cpu, all, kMapping, 1 + i);
    }
    compute_for(1000000)(cpu);  // a CPU that has ended answers no interrupts
  };
  shot.run({shoots, shoots, shoots, shoots});
}

// CPU 1 has the page's translation; the first load after the shootdown has to look it up again.
TEST(Shootdown, LeavesNoTranslationBehind) {
  MachineSpec spec = pages_of_100_cycles(2);
  spec.footprint.tlb_entries = 8;
  spec.footprint.tlb_miss_cycles = 30;
  Shot shot(spec);
  const std::array<CpuId, 1> other = {CpuId(1)};
  shot.run({[&](Cpu& cpu) {
              wait_until(cpu, 3000);
              shot.shootdowns.shoot_down(cpu, other, kMapping, 1);
            },
            [](Cpu& cpu) {
              const Address known = kMapping + 0x140;  // in sets of L1 that the shootdown's own lines don't use
              const Address other_page = kMapping + 0x1160;
              cpu.load(known);
              cpu.load(other_page);
              EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.load(known); }), 2);
              compute_for(3000)(cpu);
              EXPECT_EQ(cycles_from(cpu, 9000, [&] { cpu.load(known); }), 2 + 30);
              EXPECT_EQ(cycles_from(cpu, 9500, [&] { cpu.load(other_page); }), 2);
            }});
}

double munmap_ns(int cpus, bool shoot_down) {
  const MachineSpec spec = pages_of_100_cycles(cpus);
  SmallMachine small(spec, {}, 10, 300);
  return run_workload("munmap", {{"shoot_down", shoot_down}}, small, spec).values.at("cost.munmap");
}

// 2000 and 200 cycles, plus the lock and the page's entry on lines that no other CPU has: a few cycles and one atomic.
TEST(Munmap, WithoutNotificationsCostsItsOwnWork) {
  EXPECT_NEAR(munmap_ns(4, false), 2200, 100);
}
// At least one interrupt, its handler and one more page.
TEST(Munmap, WaitsForTheOthers) {
  EXPECT_GT(munmap_ns(4, true), 2200 + 100 + 50 + 100);
}

}  // namespace
}  // namespace linebounce::test
