// Finds a processor's contention family from the processor's name, as Linux reports it.
#include "sim/config/contention.hpp"

#include <gtest/gtest.h>

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
}

}  // namespace
}  // namespace linebounce::test
