// Finds a processor's contention family from the processor's name, as Linux reports it.
#include "sim/config/contention.hpp"

#include <gtest/gtest.h>

#include "sim/config/processor_names.hpp"

namespace linebounce::test {
namespace {

using sim::contention_of_processor;

TEST(ContentionOfProcessor, IsKnownFromItsName) {
  EXPECT_EQ(contention_of_processor("AMD EPYC 7763 64-Core Processor"), "amd_zen");
  EXPECT_EQ(contention_of_processor("AMD Opteron(tm) Processor 6172"), "amd_k10");
  EXPECT_EQ(contention_of_processor("Intel(R) Xeon(R) CPU E5-2680 v3 @ 2.50GHz"), "intel_ring");
  EXPECT_EQ(contention_of_processor("Intel(R) Xeon(R) Gold 6242 CPU @ 2.80GHz"), "intel_mesh");
  EXPECT_EQ(contention_of_processor("12th Gen Intel(R) Core(TM) i7-12700"), "intel_ring");
  EXPECT_EQ(contention_of_processor("aarch64 processor, part 0xd0c"), "arm_mesh");
}

TEST(ContentionOfProcessor, OfAnUnknownOneIsLeftOpen) {
  EXPECT_EQ(contention_of_processor("Loongson-3A5000"), "");
  EXPECT_EQ(contention_of_processor("Dual IBM Power7"), "");
  EXPECT_EQ(contention_of_processor("Intel(R) Atom(TM) CPU D510 @ 1.66GHz"), "");
}

TEST(ContentionOfProcessor, FollowsFromTheNumbersOfXeonsWithoutMetals) {
  EXPECT_EQ(contention_of_processor("Intel(R) Xeon(R) CPU X5650  @ 2.67GHz"), "intel_ring");
  EXPECT_EQ(contention_of_processor("Intel(R) Xeon(R) CPU 5130 @ 2.00GHz"), "front_side_bus");
  EXPECT_EQ(contention_of_processor("Intel(R) Xeon(TM) CPU 2.60GHz"), "front_side_bus");
  EXPECT_EQ(contention_of_processor("Intel Xeon Processor (Skylake, IBRS)"), "intel_mesh");
  EXPECT_EQ(contention_of_processor("Intel(R) Core(TM) i9-7900X CPU"), "intel_mesh");
}

TEST(ProcessorNames, SayOrderLinesAndClock) {
  const auto kunpeng = sim::processor_in("HiSilicon Kunpeng 920-6426 @ 2.6GHz");
  ASSERT_TRUE(kunpeng.has_value());
  EXPECT_EQ(kunpeng->consistency, "ia64");
  EXPECT_EQ(sim::processor_in("Apple M1 Pro")->line_bytes, 128);
  EXPECT_EQ(sim::clock_in("HiSilicon Kunpeng 920-6426 @ 2.6GHz"), 2600);
  EXPECT_EQ(sim::clock_in("AMD EPYC 7763 64-Core Processor"), std::nullopt);
  EXPECT_FALSE(sim::processor_in("marigold platinums 40 90").has_value());
}

}  // namespace
}  // namespace linebounce::test
