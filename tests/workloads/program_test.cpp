// The tools that workloads are written with: named memory, random numbers, the barrier.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "tests/models/support/small_machine.hpp"
#include "workloads/program/address_space.hpp"
#include "workloads/program/barrier.hpp"
#include "workloads/program/random.hpp"

namespace linebounce::test {

using namespace workloads;

namespace {

const Layout kPair = {.name = "pair", .size = 24, .fields = {{"first", 0}, {"second", 16, 4}}};

TEST(AddressSpace, ObjectsDoNotOverlapAndKeepTheirAlignment) {
  LineStore store(32);
  AddressSpace space(store);
  const Address first = space.place(kPair, "a");
  const Address second = space.place(kPair, "b");
  const Address aligned = space.place(kPair, "c", 32);
  EXPECT_EQ(first % 8, 0U);
  EXPECT_EQ(second, first + 24);
  EXPECT_EQ(aligned % 32, 0U);
  EXPECT_GE(aligned, second + 24);
}

TEST(AddressSpace, AnArrayHasItsLinesForItself) {
  LineStore store(32);
  AddressSpace space(store);
  space.place(kPair, "before");
  const Address array = space.place_array("array", 40);
  EXPECT_EQ(array % 32, 0U);
  EXPECT_GE(space.place(kPair, "after"), array + 64);
}

TEST(AddressSpace, AnAddressHasANameDownToTheField) {
  LineStore store(32);
  AddressSpace space(store);
  const Address at = space.place(kPair, "pair[3]", 32);
  const Symbol symbol = space.symbol(space.find(at + 18));
  EXPECT_EQ(symbol.structure, "pair");
  EXPECT_EQ(symbol.object, "pair[3]");
  EXPECT_EQ(symbol.field, "second");
  EXPECT_EQ(symbol.line, 0);
  EXPECT_EQ(symbol.offset, 18);
  EXPECT_EQ(space.symbol(space.find(at + 8)).field, "") << "padding";
  EXPECT_EQ(space.symbol(space.find(at + 24)).object, "") << "behind it";
  EXPECT_EQ(space.symbol(space.find(0)).object, "") << "before all objects";
}

TEST(AddressSpace, LinesOfAnObjectCountFromTheOneInWhichItBegins) {
  LineStore store(32);
  AddressSpace space(store);
  const Layout large{.name = "large", .size = 100, .alignment = 32, .fields = {{"last", 96, 4}}};
  const Address at = space.place(large, "object");
  const Symbol symbol = space.symbol(space.find(at + 96));
  EXPECT_EQ(symbol.line, 3);
  EXPECT_EQ(symbol.offset, 0);
  EXPECT_EQ(symbol.field, "last");
}

// Includes parts of the structure that its layout moved out of the objects.
TEST(AddressSpace, AFieldIsFoundInAllObjectsOfItsStructure) {
  LineStore store(32);
  AddressSpace space(store);
  const Layout part = {.name = "pair.read_mostly", .size = 32, .alignment = 32, .fields = {{"third", 8}}};
  const Layout other = {.name = "pairs", .size = 8, .fields = {{"second", 0}}};
  const Address first = space.place(kPair, "a");
  space.place(other, "other");
  const Address second = space.place(kPair, "b");
  const Address moved = space.place(part, "b.read_mostly");
  EXPECT_EQ(space.addresses_of("pair", "second"), (std::vector<Address>{first + 16, second + 16}));
  EXPECT_EQ(space.addresses_of("pair", "third"), std::vector<Address>{moved + 8});
  EXPECT_TRUE(space.addresses_of("pair", "fourth").empty());
  EXPECT_TRUE(space.addresses_of("no_such", "second").empty());
  EXPECT_EQ(space.address(space.find(second + 16)), second + 16);
}

TEST(AddressSpace, AFunctionOfTheSameNameIsTheSameFunction) {
  LineStore store(32);
  AddressSpace space(store);
  const FunctionId lookup = space.function("lookup", Mode::kernel);
  EXPECT_NE(space.function("insert", Mode::user), lookup);
  EXPECT_EQ(space.function("lookup", Mode::kernel), lookup);
  EXPECT_EQ(space.functions()[lookup].name, "lookup");
}

TEST(Random, EqualSeedsGiveEqualStreamsAndOthersDoNot) {
  Random first(1, 2, 3);
  Random same(1, 2, 3);
  std::set<std::uint64_t> firsts;
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t expected = first.next();
    EXPECT_EQ(same.next(), expected);
  }
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    for (std::uint64_t cpu = 0; cpu < 4; ++cpu) {
      for (std::uint64_t purpose = 0; purpose < 4; ++purpose) firsts.insert(Random(seed, cpu, purpose).next());
    }
  }
  EXPECT_EQ(firsts.size(), 64U);
}

TEST(Random, BelowReachesAllValuesAndNoMore) {
  Random random(1, 0, 0);
  std::array<int, 5> counts{};
  for (int i = 0; i < 5000; ++i) ++counts.at(random.below(5));
  for (const int count : counts) EXPECT_NEAR(count, 1000, 150);
}

// Each CPU arrives at its own time; no CPU leaves before the last has arrived, in any of the rounds.
TEST(Barrier, LetsNoCpuPassBeforeTheLastHasArrived) {
  SmallMachine small(small_machine(4));
  AddressSpace space(small.machine.store());
  const Barrier barrier(space, "barrier", 4);
  std::array<std::array<double, 3>, 4> arrived{};
  std::array<std::array<double, 3>, 4> left{};
  const Core::Program program = [&](Cpu& cpu) {
    const auto me = static_cast<std::size_t>(cpu.id().value);
    for (std::size_t round = 0; round < 3; ++round) {
      cpu.compute(static_cast<std::int64_t>(1000 * ((me + round) % 4)));
      arrived.at(me).at(round) = cpu.now_ns();
      barrier.wait(cpu);
      left.at(me).at(round) = cpu.now_ns();
    }
  };
  small.run({program, program, program, program});
  for (std::size_t round = 0; round < 3; ++round) {
    double last = 0;
    for (const auto& times : arrived) last = std::max(last, times.at(round));
    for (const auto& times : left) EXPECT_GT(times.at(round), last);
  }
}

}  // namespace
}  // namespace linebounce::test
