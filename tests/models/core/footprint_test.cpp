// The cost of instruction-cache and TLB misses. 1 cycle is 1 ns; a load that hits L1 takes 2; an instruction takes 1.
#include "models/core/footprint.hpp"

#include <gtest/gtest.h>

#include "tests/models/support/small_machine.hpp"

namespace linebounce::test {
namespace {

constexpr Address kPage = 4096;
// Addresses on different pages, and in different sets of L1.
constexpr Address kOnFirstPage = kLine;
constexpr Address kOnSecondPage = kLine + kPage + 32;
constexpr Address kOnThirdPage = kLine + 2 * kPage + 64;
constexpr FunctionId kOuter = 0, kKernel = 1, kUser = 2;

MachineSpec with_tlb(int cpus, int entries) {
  MachineSpec spec = small_machine(cpus);
  spec.footprint = {.tlb_entries = entries, .tlb_ways = entries, .tlb_page_kib = 4, .tlb_miss_cycles = 30};
  return spec;
}

// A line is 32 bytes, eight instructions of 4 bytes; fetching a missing one takes 10 cycles.
MachineSpec with_code_cache(int kib, int function_bytes) {
  MachineSpec spec = small_machine(1);
  spec.footprint = {.code_cache_kib = kib,
                    .code_cache_ways = 2,
                    .code_line_bytes = 32,
                    .code_miss_cycles = 10,
                    .kernel_function_bytes = function_bytes,
                    .user_code_kib = 1};
  return spec;
}

template <class Body>
double cycles_of(Cpu& cpu, Body body) {
  const double begin = cpu.now_ns();
  body();
  return cpu.now_ns() - begin;
}

double executing(Cpu& cpu, FunctionId function, std::int64_t instructions) {
  const FunctionScope scope(cpu, function);
  return cycles_of(cpu, [&] { cpu.execute(instructions); });
}

void run_with_functions(SmallMachine& small, std::vector<Core::Program> programs) {
  small.machine.set_functions(3, std::vector<FunctionId>{kUser});
  small.run(std::move(programs));
}

TEST(DataTlb, WithTwoEntriesForgetsTheFirstOfThreePages) {
  SmallMachine small(with_tlb(1, 2));
  run_with_functions(small, {[](Cpu& cpu) {
                       for (const Address address : {kOnFirstPage, kOnSecondPage, kOnThirdPage}) cpu.load(address);
                       EXPECT_EQ(cycles_of(cpu, [&] { cpu.load(kOnThirdPage); }), 2);
                       EXPECT_EQ(cycles_of(cpu, [&] { cpu.load(kOnFirstPage); }), 30 + 2) << "pushed out by the third";
                       EXPECT_EQ(cycles_of(cpu, [&] { cpu.load(kOnThirdPage); }), 2);
                       EXPECT_EQ(cycles_of(cpu, [&] { cpu.load(kOnSecondPage); }), 30 + 2) << "pushed out by the first";
                       EXPECT_EQ(cpu.counters().footprint[kOuter].pages, 3 + 2);
                     }});
}

// With two sets of one way, pages 0 and 2 share a set, and page 1 is in the other.
TEST(DataTlb, PagesOfOneSetPushEachOtherOut) {
  MachineSpec spec = with_tlb(1, 2);
  spec.footprint.tlb_ways = 1;
  SmallMachine small(spec);
  run_with_functions(small, {[](Cpu& cpu) {
                       for (const Address address : {kOnFirstPage, kOnSecondPage, kOnThirdPage}) cpu.load(address);
                       EXPECT_EQ(cycles_of(cpu, [&] { cpu.load(kOnSecondPage); }), 2);
                       EXPECT_EQ(cycles_of(cpu, [&] { cpu.load(kOnFirstPage); }), 30 + 2);
                     }});
}

TEST(DataTlb, EveryAccessNeedsItsTranslation) {
  SmallMachine small(with_tlb(1, 1));
  run_with_functions(small, {[](Cpu& cpu) {
                       const auto elsewhere = [&] { cpu.load(kOnSecondPage); };
                       cpu.store(kOnFirstPage, 1);
                       elsewhere();
                       EXPECT_EQ(cycles_of(cpu, [&] { cpu.store(kOnFirstPage, 1); }), 30 + 1);
                       elsewhere();
                       EXPECT_EQ(cycles_of(cpu, [&] { cpu.fetch_add(kOnFirstPage, 1); }), 30 + 20);
                       elsewhere();
                       EXPECT_EQ(cycles_of(cpu, [&] { cpu.compare_exchange(kOnFirstPage, 0, 1); }), 30 + 30);
                     }});
}

// CPU 1 hits the page that CPU 0 used, and evicts it.
TEST(DataTlb, IsSharedByTheThreadsOfACore) {
  MachineSpec spec = with_tlb(2, 1);
  spec.cpu.threads_per_core = 2;
  SmallMachine small(spec);
  run_with_functions(small, {[](Cpu& cpu) {
                               cpu.load(kOnFirstPage);
                               cpu.load(kOnSecondPage);
                               cpu.load(kOnFirstPage);
                               EXPECT_EQ(cycles_from(cpu, 4000, [&] { cpu.load(kOnFirstPage); }), 30 + 2);
                             },
                             [](Cpu& cpu) {
                               EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.load(kOnFirstPage); }), 2);
                               EXPECT_EQ(cycles_from(cpu, 3000, [&] { cpu.load(kOnSecondPage); }), 30 + 2);
                             }});
}

TEST(DataTlb, IsSeparateForEachCore) {
  SmallMachine small(with_tlb(2, 1));
  run_with_functions(small, {[](Cpu& cpu) {
                               cpu.load(kOnFirstPage);
                               EXPECT_EQ(cycles_from(cpu, 4000, [&] { cpu.load(kOnFirstPage); }), 2);
                             },
                             [](Cpu& cpu) {
                               wait_until(cpu, 3000);
                               cpu.load(kOnSecondPage);
                             }});
}

// Dropping a page costs nothing here, so the times are those of the translations that are missing afterwards. Up to two pages
// are dropped one by one; more pages cost the whole TLB.
TEST(DataTlb, ForgetsThePagesThatAreInvalidatedAndKeepsTheOthers) {
  MachineSpec spec = with_tlb(1, 4);
  spec.cpu.tlb_flush_ceiling_pages = 2;
  SmallMachine small(spec);
  run_with_functions(small, {[](Cpu& cpu) {
                       for (const Address address : {kOnFirstPage, kOnSecondPage, kOnThirdPage}) cpu.load(address);
                       cpu.invalidate_pages(kOnFirstPage, 2);
                       EXPECT_EQ(cycles_of(cpu, [&] { cpu.load(kOnThirdPage); }), 2);
                       EXPECT_EQ(cycles_of(cpu, [&] { cpu.load(kOnFirstPage); }), 30 + 2);
                       EXPECT_EQ(cycles_of(cpu, [&] { cpu.load(kOnSecondPage); }), 30 + 2);
                       cpu.invalidate_pages(kOnFirstPage, 3);
                       EXPECT_EQ(cycles_of(cpu, [&] { cpu.load(kOnThirdPage); }), 30 + 2);
                     }});
}

// A spin, parked or simulated load by load, looks up its page once, when it begins.
class SpinWithFootprint : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(, SpinWithFootprint, testing::Bool(),
                         [](const auto& tested) { return tested.param ? "parked" : "simulated"; });

TEST_P(SpinWithFootprint, LooksItsPageUpOnce) {
  MachineSpec spec = with_tlb(2, 1);
  spec.cpu.threads_per_core = 2;
  EngineSpec engine;
  engine.parked_spins = GetParam();
  SmallMachine small(spec, engine);
  run_with_functions(small, {[](Cpu& cpu) {
                               for (int i = 0; i < 10; ++i) {
                                 wait_until(cpu, i == 0 ? 800 : 1000 + 100 * i);  // the first load misses
                                 cpu.load(kOnSecondPage);
                               }
                               cpu.store(kOnFirstPage, 1);
                             },
                             [](Cpu& cpu) {
                               cpu.spin_until(kOnFirstPage, [](Value value) { return value == 1; });
                               EXPECT_EQ(cpu.counters().footprint[kOuter].pages, 1);
                               // CPU 0's last load ends at 1902. Its store looks up its page until 1932, and CPU 1's next
                               // load is the one at 1934.
                               EXPECT_EQ(cpu.now_ns(), 1936);
                             }});
}

TEST(CodeCache, HoldsAFunctionThatFits) {
  SmallMachine small(with_code_cache(1, 512));
  run_with_functions(small, {[](Cpu& cpu) {
                       EXPECT_EQ(executing(cpu, kKernel, 128), 128 + 16 * 10) << "512 bytes, 16 lines";
                       EXPECT_EQ(executing(cpu, kKernel, 128), 128);
                       EXPECT_EQ(cpu.counters().footprint[kKernel].code_lines, 16);
                       EXPECT_EQ(cpu.counters().footprint[kOuter].code_lines, 0);
                     }});
}

TEST(CodeCache, HoldsNothingOfALargerFunctionUntilItComesAgain) {
  SmallMachine small(with_code_cache(1, 2048));
  run_with_functions(small, {[](Cpu& cpu) {
                       EXPECT_EQ(executing(cpu, kKernel, 512), 512 + 64 * 10);
                       EXPECT_EQ(executing(cpu, kKernel, 512), 512 + 64 * 10) << "each line has pushed out the next";
                     }});
}

TEST(CodeCache, IsAskedForTheLinesThatExecutionComesTo) {
  SmallMachine small(with_code_cache(1, 64));
  run_with_functions(small, {[](Cpu& cpu) {
                       const FunctionScope scope(cpu, kKernel);
                       EXPECT_EQ(cycles_of(cpu, [&] { cpu.execute(4); }), 4 + 10);
                       EXPECT_EQ(cycles_of(cpu, [&] { cpu.execute(4); }), 4) << "the other half of the line";
                       EXPECT_EQ(cycles_of(cpu, [&] { cpu.execute(8); }), 8 + 10) << "the second line";
                       EXPECT_EQ(cycles_of(cpu, [&] { cpu.execute(8); }), 8) << "from the beginning";
                     }});
}

TEST(CodeCache, AFunctionsLastByteMayBeAloneOnItsLine) {
  SmallMachine small(with_code_cache(1, 33));
  run_with_functions(small, {[](Cpu& cpu) {
                       const FunctionScope scope(cpu, kKernel);
                       EXPECT_EQ(cycles_of(cpu, [&] { cpu.execute(8); }), 8 + 10);
                       EXPECT_EQ(cycles_of(cpu, [&] { cpu.execute(8); }), 8 + 10) << "the second line";
                     }});
}

TEST(CodeCache, IsAskedForEachLineOnceByALongComputation) {
  SmallMachine small(with_code_cache(1, 2048));
  run_with_functions(small, {[](Cpu& cpu) {
                       const FunctionScope scope(cpu, kKernel);
                       EXPECT_EQ(cycles_of(cpu, [&] { cpu.compute(100'000); }), 100'000 + 64 * 10);
                     }});
}

// 200 instructions end in the second line of the function's 64 bytes of code. The next call begins with the first line again.
TEST(CodeCache, AFunctionBeginsAtItsBeginning) {
  SmallMachine small(with_code_cache(1, 64));
  run_with_functions(small, {[](Cpu& cpu) {
                       EXPECT_EQ(executing(cpu, kKernel, 4), 4 + 10);
                       EXPECT_EQ(executing(cpu, kKernel, 4), 4);
                       EXPECT_EQ(executing(cpu, kKernel, 8), 8) << "and not from the fifth instruction to the thirteenth";
                     }});
}

TEST(CodeCache, ACallerGoesOnWhereItWas) {
  SmallMachine small(with_code_cache(1, 64));
  run_with_functions(small, {[](Cpu& cpu) {
                       cpu.execute(8);
                       executing(cpu, kKernel, 8);
                       EXPECT_EQ(cycles_of(cpu, [&] { cpu.execute(8); }), 8 + 10) << "the second line";
                     }});
}

TEST(CodeCache, AMemoryOperationIsAnInstruction) {
  SmallMachine small(with_code_cache(1, 64));
  run_with_functions(small, {[](Cpu& cpu) {
                       cpu.load(kLine);
                       for (int i = 1; i < 8; ++i) EXPECT_EQ(cycles_of(cpu, [&] { cpu.load(kLine); }), 2);
                       EXPECT_EQ(cycles_of(cpu, [&] { cpu.load(kLine); }), 10 + 2) << "the ninth, in the second line";
                     }});
}

// The cache has 32 lines in 16 sets; 1 KiB of user code fills it.
TEST(CodeCache, UserCodePushesTheKernelsOut) {
  SmallMachine small(with_code_cache(1, 512));
  run_with_functions(small, {[](Cpu& cpu) {
                       executing(cpu, kKernel, 128);
                       EXPECT_EQ(executing(cpu, kUser, 1000), 1000 + 32 * 10);
                       EXPECT_EQ(executing(cpu, kKernel, 128), 128 + 16 * 10);
                     }});
}

TEST(CodeCache, SmallUserCodeLeavesTheKernelsWhereItIs) {
  MachineSpec spec = with_code_cache(2, 512);
  spec.footprint.code_cache_ways = 4;
  SmallMachine small(spec);
  run_with_functions(small, {[](Cpu& cpu) {
                       executing(cpu, kKernel, 128);
                       executing(cpu, kUser, 1000);
                       EXPECT_EQ(executing(cpu, kKernel, 128), 128);
                     }});
}

// An interrupt at 200 splits a computation including its wait for code.
TEST(CodeCache, AnInterruptSplitsTheWaitForCode) {
  SmallMachine small(with_code_cache(1, 2048));
  double handled = 0;
  run_with_functions(small, {[&handled](Cpu& cpu) {
                       cpu.set_interrupt_handler([&handled](Cpu& inner, int) { handled = inner.now_ns(); });
                       cpu.set_timer(200, 0);
                       cpu.execute(512);
                       EXPECT_EQ(cpu.now_ns(), 512 + 64 * 10 + 50);
                     }});
  EXPECT_EQ(handled, 200 + 50);
}

TEST(Footprint, OfAMachineThatHasNoneCountsNothing) {
  SmallMachine small(small_machine(1));
  run_with_functions(small, {[](Cpu& cpu) {
                       EXPECT_EQ(executing(cpu, kKernel, 100), 100);
                       EXPECT_TRUE(cpu.counters().footprint.empty());
                     }});
}

TEST(Footprint, CountsInTheMeasuredTime) {
  SmallMachine small(with_tlb(1, 1), {}, 1.0, 1.0);
  run_with_functions(small, {[](Cpu& cpu) {
                       cpu.load(kOnFirstPage);
                       wait_until(cpu, 1500);
                       cpu.load(kOnSecondPage);
                       wait_until(cpu, 1990);
                       EXPECT_EQ(cpu.counters().footprint[kOuter].pages, 1);
                     }});
}

}  // namespace
}  // namespace linebounce::test
