// Which bits of an address index the parts of a machine.
#include "models/machine/index_bits.hpp"

#include <gtest/gtest.h>

#include "tests/models/support/small_machine.hpp"

namespace linebounce::test {
namespace {

TEST(IndexBits, TheCacheWithTheLargestWaysNeedsMost) {
  MachineSpec spec = small_machine(2);
  EXPECT_EQ(index_bits(spec), 10) << "4 KiB in 4 ways";
  spec.caches.front().ways = 1;
  spec.caches.front().size_kib = 64;
  EXPECT_EQ(index_bits(spec), 16) << "64 KiB in one way";
}

TEST(IndexBits, BanksAreCountedByLines) {
  MachineSpec spec = small_machine(2);
  spec.memory.banks = 128;
  EXPECT_EQ(index_bits(spec), 12) << "lines of 32 bytes";
  spec.memory.banks = 100;
  EXPECT_EQ(index_bits(spec), 12) << "as 128 have";
}

TEST(IndexBits, CachesAndFiltersBehindTheBusCountToo) {
  MachineSpec spec = small_machine(2);
  spec.nodes = 2;
  spec.node.protocol = "mesi_node";
  EXPECT_EQ(index_bits(spec), 10) << "caches without a size have no sets";
  spec.node.cache_size_kib = 512;
  EXPECT_EQ(index_bits(spec), 15) << "512 KiB in 16 ways";
  spec.directory.entries = 1 << 16;
  EXPECT_EQ(index_bits(spec), 17) << "2^16 entries in 16 ways, of lines of 32 bytes";
  GroupSpec& group = spec.groups.emplace_back();
  group.size_kib = 32 << 10;
  EXPECT_EQ(index_bits(spec), 21) << "32 MiB in 16 ways";
  group.filter_entries = 1 << 22;
  EXPECT_EQ(index_bits(spec), 23) << "2^22 entries in 16 ways, of lines of 32 bytes";
}

// The hash of slices shifts a line's number by up to 13 bits.
TEST(IndexBits, TheHashOfSlicesReachesFarther) {
  MachineSpec spec = small_machine(2);
  spec.nodes = 2;
  spec.node.protocol = "mesi_node";
  spec.groups.emplace_back().slices = 8;
  EXPECT_EQ(index_bits(spec), 5 + 13 + 3);
}

}  // namespace
}  // namespace linebounce::test
