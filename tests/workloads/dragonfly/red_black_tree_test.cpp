// A red-black tree in simulated memory keeps its invariants, and yields its nodes in key order.
#include <gtest/gtest.h>

#include <set>

#include "tests/models/support/small_machine.hpp"
#include "workloads/dragonfly/dirty_buffers.hpp"
#include "workloads/program/address_space.hpp"
#include "workloads/program/random.hpp"

namespace linebounce::test {

using namespace workloads;

namespace {

constexpr Address kNodeBytes = 40;

// The number of black nodes from here to any leaf. Fails if two paths differ, a red node has a red child, or a key is out of
// order.
int checked_height(Cpu& cpu, Address node, Address parent, Value least, Value most) {
  if (node == 0) return 0;
  const Value key = cpu.load(node + RedBlackTree::kKey);
  const bool red = cpu.load(node + RedBlackTree::kRed) != 0;
  EXPECT_EQ(cpu.load(node + RedBlackTree::kParent), parent);
  EXPECT_GE(key, least);
  EXPECT_LE(key, most);
  const Address left = cpu.load(node + RedBlackTree::kLeft);
  const Address right = cpu.load(node + RedBlackTree::kRight);
  for (const Address child : {left, right}) {
    if (!red || child == 0) continue;
    EXPECT_EQ(cpu.load(child + RedBlackTree::kRed), 0U) << "two red nodes, one below the other";
  }
  const int of_left = checked_height(cpu, left, node, least, key);
  const int of_right = checked_height(cpu, right, node, key, most);
  EXPECT_EQ(of_left, of_right) << "the ways through node " << key << " have different lengths";
  return of_left + (red ? 0 : 1);
}

TEST(RedBlackTree, StaysBalancedWhileNodesComeAndTheFirstGoes) {
  SmallMachine small(small_machine(1));
  AddressSpace space(small.machine.store());
  constexpr std::uint64_t kNodes = 200;
  const Address root = space.place_array("root", 8);
  const Address nodes = space.place_array("nodes", static_cast<std::int64_t>(kNodes * kNodeBytes));
  small.run({[&](Cpu& cpu) {
    const RedBlackTree tree(root);
    Random random(3, 0, 0);
    std::multiset<Value> keys;
    std::uint64_t inserted = 0;
    while (inserted < kNodes || !keys.empty()) {
      if (inserted < kNodes && (keys.empty() || random.below(3) != 0)) {
        const Address node = nodes + inserted++ * kNodeBytes;
        const Value key = random.below(90);
        cpu.store(node + RedBlackTree::kKey, key);
        tree.insert(cpu, node);
        keys.insert(key);
      } else {
        const Address first = tree.take_first(cpu);
        ASSERT_NE(first, 0U);
        ASSERT_EQ(cpu.load(first + RedBlackTree::kKey), *keys.begin());
        keys.erase(keys.begin());
      }
      const Address top = cpu.load(root);
      EXPECT_TRUE(top == 0 || cpu.load(top + RedBlackTree::kRed) == 0) << "the root is red";
      checked_height(cpu, top, 0, 0, 90);
      ASSERT_FALSE(testing::Test::HasFailure());
    }
    EXPECT_EQ(tree.take_first(cpu), 0U);
  }});
}

TEST(RedBlackTree, EqualKeysLeaveInTheOrderOfTheirComing) {
  SmallMachine small(small_machine(1));
  AddressSpace space(small.machine.store());
  const Address root = space.place_array("root", 8);
  const Address nodes = space.place_array("nodes", static_cast<std::int64_t>(9 * kNodeBytes));
  small.run({[&](Cpu& cpu) {
    const RedBlackTree tree(root);
    for (Address node = 0; node < 9; ++node) tree.insert(cpu, nodes + node * kNodeBytes);
    for (Address node = 0; node < 9; ++node) EXPECT_EQ(tree.take_first(cpu), nodes + node * kNodeBytes);
  }});
}

}  // namespace
}  // namespace linebounce::test
