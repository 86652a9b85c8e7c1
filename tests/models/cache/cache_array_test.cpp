// Tests replacement by examples and against simple reference models.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <bit>
#include <deque>
#include <optional>
#include <vector>

#include "models/cache/cache_agent.hpp"
#include "tests/models/support/small_machine.hpp"

namespace linebounce::test {
namespace {

const auto kAnybody = [](CopyIndex) { return true; };

// One set of four ways, filled with blocks 0 to 3 in this order.
CacheArray full_set(Replacement replacement) {
  CacheArray array(
      {.name = "set", .size_kib = 1, .ways = 4, .line_bytes = 256, .hit_latency_cycles = 1, .replacement = replacement});
  for (std::uint64_t block = 0; block < 4; ++block) {
    array.insert(block, array.victim(block, kAnybody), static_cast<CopyIndex>(block), static_cast<Tick>(block));
  }
  return array;
}

std::uint64_t victim_block(const CacheArray& array) {
  return array.copy(array.victim(4, kAnybody));
}

TEST(CacheArray, FreeWaysAreFilledFirst) {
  CacheArray array = full_set(Replacement::lru);
  array.remove(array.find(2));
  EXPECT_EQ(array.victim(4, kAnybody), 2);
  EXPECT_EQ(array.find(2), -1);
  EXPECT_GE(array.find(3), 0);
}

TEST(Lru, TheOldestUseGoes) {
  CacheArray array = full_set(Replacement::lru);
  EXPECT_EQ(victim_block(array), 0U);
  array.touch(array.find(0), 10);
  EXPECT_EQ(victim_block(array), 1U);
  array.touch(array.find(1), 11);
  EXPECT_EQ(victim_block(array), 2U);
}

TEST(Replacement, AgesCountNotTheOrderOfCalls) {
  for (const Replacement replacement : {Replacement::lru, Replacement::tree_plru}) {
    CacheArray array = full_set(replacement);
    array.touch(array.find(0), 20);
    array.touch(array.find(1), 19);
    array.touch(array.find(3), 17);
    array.touch(array.find(2), 18);
    EXPECT_EQ(victim_block(array), 3U);
  }
}

// Uses of a line by two parked spins are counted one spin after the other. A use that is counted later may have happened
// earlier; it must not make the line look less recently used.
TEST(Lru, AnOlderUseThatIsCountedLateMakesNothingOlder) {
  CacheArray array = full_set(Replacement::lru);
  array.touch(array.find(0), 20);
  for (const std::uint64_t block : {1, 2, 3}) array.touch(array.find(block), 15 + static_cast<Tick>(block));
  array.touch_if_newer(array.find(0), 10);
  EXPECT_EQ(victim_block(array), 1U);
  array.touch_if_newer(array.find(1), 30);
  EXPECT_EQ(victim_block(array), 2U);
}

TEST(Lru, SkipsALineThatMayNotBeEvicted) {
  CacheArray array = full_set(Replacement::lru);
  EXPECT_EQ(array.copy(array.victim(4, [](CopyIndex copy) { return copy >= 2; })), 2U);
  EXPECT_EQ(array.victim(4, [](CopyIndex) { return false; }), -1);
}

// With four ways, the root's bit points to the colder half, and each half's bit to its colder way.
TEST(TreePlru, TheColderHalfsColderWayGoes) {
  CacheArray array = full_set(Replacement::tree_plru);
  EXPECT_EQ(victim_block(array), 0U) << "3 was used last, so the lower half is colder; in it 1 was used after 0";
  array.touch(array.find(0), 10);
  EXPECT_EQ(victim_block(array), 2U) << "the upper half is colder now; in it 3 was used after 2";
  array.touch(array.find(2), 11);
  EXPECT_EQ(victim_block(array), 1U);
}

// A case where tree-PLRU differs from LRU. After 0, 1, 2, 3, 0 the least recently used way is 1. But the half {2, 3} was used
// before the half {0, 1}, so tree-PLRU chooses from it.
TEST(TreePlru, IsNotLru) {
  CacheArray tree = full_set(Replacement::tree_plru);
  CacheArray lru = full_set(Replacement::lru);
  tree.touch(tree.find(0), 10);
  lru.touch(lru.find(0), 10);
  EXPECT_EQ(victim_block(lru), 1U);
  EXPECT_EQ(victim_block(tree), 2U);
}

// A reference model of tree-PLRU, with one bit for each node of the tree as in hardware. A use of one half points the node's
// bit to the other half.
class TreeOfBits {
 public:
  explicit TreeOfBits(int ways) : ways_(ways), upper_is_colder_(static_cast<std::size_t>(ways)) {}

  void use(int way) {
    std::size_t node = 1;
    for (int half = ways_ / 2; half > 0; half /= 2) {
      const bool in_upper = (way & half) != 0;
      upper_is_colder_[node] = !in_upper;
      node = 2 * node + (in_upper ? 1 : 0);
    }
  }
  [[nodiscard]] int victim() const {
    std::size_t node = 1;
    int way = 0;
    for (int half = ways_ / 2; half > 0; half /= 2) {
      const bool to_upper = upper_is_colder_[node];
      way += to_upper ? half : 0;
      node = 2 * node + (to_upper ? 1 : 0);
    }
    return way;
  }

 private:
  int ways_;
  std::vector<bool> upper_is_colder_;  // by node: 1 is the root, 2n and 2n + 1 are the children of n
};

RC_GTEST_PROP(CacheArrayProperty, AgesTellWhatTheTreesBitsTell, ()) {
  const int ways = *rc::gen::element(1, 2, 4, 8, 16);
  CacheArray array({.name = "a",
                    .size_kib = 1,
                    .ways = ways,
                    .line_bytes = 1024 / ways,
                    .hit_latency_cycles = 1,
                    .replacement = Replacement::tree_plru});
  TreeOfBits tree(ways);
  const auto blocks = *rc::gen::container<std::vector<std::uint64_t>>(rc::gen::inRange<std::uint64_t>(0, 40));
  Tick age = 0;
  int filled = 0;
  for (const std::uint64_t block : blocks) {
    ++age;
    int place = array.find(block);
    if (place >= 0) {
      array.touch(place, age);
    } else {
      place = array.victim(block, kAnybody);
      RC_ASSERT(place == (filled < ways ? filled : tree.victim()));
      filled = std::min(filled + 1, ways);
      if (!array.is_free(place)) array.remove(place);
      array.insert(block, place, static_cast<CopyIndex>(block), age);
    }
    tree.use(place);
  }
}

// A reference model of LRU: each set is a list, the most recently used line first.
class NaiveSets {
 public:
  NaiveSets(std::size_t sets, std::size_t ways) : sets_(sets), ways_(ways) {}

  bool use(std::uint64_t block) {
    std::deque<std::uint64_t>& set = set_of(block);
    const auto found = std::find(set.begin(), set.end(), block);
    if (found == set.end()) return false;
    set.erase(found);
    set.push_front(block);
    return true;
  }
  // Returns the evicted block.
  std::optional<std::uint64_t> insert(std::uint64_t block) {
    std::deque<std::uint64_t>& set = set_of(block);
    std::optional<std::uint64_t> victim;
    if (set.size() == ways_) {
      victim = set.back();
      set.pop_back();
    }
    set.push_front(block);
    return victim;
  }
  void remove(std::uint64_t block) { std::erase(set_of(block), block); }
  [[nodiscard]] bool holds(std::uint64_t block) const {
    const std::deque<std::uint64_t>& set = sets_[block % sets_.size()];
    return std::find(set.begin(), set.end(), block) != set.end();
  }

 private:
  std::deque<std::uint64_t>& set_of(std::uint64_t block) { return sets_[block % sets_.size()]; }

  std::vector<std::deque<std::uint64_t>> sets_;
  std::size_t ways_;
};

RC_GTEST_PROP(CacheArrayProperty, LruIsAListPerSet, ()) {
  const int ways = *rc::gen::element(1, 2, 4, 8);
  const int line_bytes = *rc::gen::element(16, 32, 64);
  CacheArray array({.name = "a", .size_kib = 1, .ways = ways, .line_bytes = line_bytes, .hit_latency_cycles = 1});
  NaiveSets naive(static_cast<std::size_t>(1024 / line_bytes / ways), static_cast<std::size_t>(ways));
  const auto blocks = *rc::gen::container<std::vector<std::uint64_t>>(rc::gen::inRange<std::uint64_t>(0, 200));
  Tick age = 0;
  for (const std::uint64_t block : blocks) {
    ++age;
    const int found = array.find(block);
    RC_ASSERT((found >= 0) == naive.use(block));
    if (found >= 0) {
      array.touch(found, age);
      continue;
    }
    const int place = array.victim(block, kAnybody);
    const bool full = !array.is_free(place);
    const CopyIndex leaves = array.copy(place);
    const std::optional<std::uint64_t> expected = naive.insert(block);
    RC_ASSERT(full == expected.has_value());
    if (full) {
      RC_ASSERT(leaves == *expected);
      array.remove(place);
    }
    array.insert(block, place, static_cast<CopyIndex>(block), age);
  }
}

// A reference model of two inclusive LRU levels, as lists.
class NaiveLevels {
 public:
  NaiveLevels(const CacheSpec& near, const CacheSpec& far)
      : blocks_per_line_(static_cast<std::uint64_t>(far.line_bytes / near.line_bytes)),
        near_(sets(near), ways(near)),
        far_(sets(far), ways(far)) {}

  // The level that held the block, 0 or 1; -1 if none did.
  int access(std::uint64_t block) {
    if (near_.use(block)) return 0;
    const std::uint64_t line = block / blocks_per_line_;
    const bool held = far_.use(line);
    if (!held) {
      if (const auto victim = far_.insert(line)) {
        for (std::uint64_t i = 0; i < blocks_per_line_; ++i) near_.remove(*victim * blocks_per_line_ + i);
      }
    }
    near_.insert(block);
    return held ? 1 : -1;
  }
  void drop(std::uint64_t line) {
    far_.remove(line);
    for (std::uint64_t i = 0; i < blocks_per_line_; ++i) near_.remove(line * blocks_per_line_ + i);
  }
  [[nodiscard]] bool near_holds_part_of(std::uint64_t line) const {
    bool any = false;
    for (std::uint64_t i = 0; i < blocks_per_line_; ++i) any = any || near_.holds(line * blocks_per_line_ + i);
    return any;
  }
  [[nodiscard]] bool far_holds(std::uint64_t line) const { return far_.holds(line); }

 private:
  static std::size_t sets(const CacheSpec& spec) {
    return static_cast<std::size_t>(spec.size_kib * 1024 / spec.line_bytes / spec.ways);
  }
  static std::size_t ways(const CacheSpec& spec) { return static_cast<std::size_t>(spec.ways); }

  std::uint64_t blocks_per_line_;
  NaiveSets near_;
  NaiveSets far_;
};

// A gate that lets every victim leave immediately.
struct OpenGate {
  CacheAgent& agent;
  [[nodiscard]] static bool may_leave(const Copy&) { return true; }
  void leave(Copy& copy) const { agent.drop(copy); }
};

constexpr std::uint64_t kLines = 120;

// Checks that each copy's `levels` says where it is, that L2 includes L1, and that no other copies exist.
void check_levels(CacheAgent& agent, const NaiveLevels& naive) {
  for (std::uint64_t line = 0; line < kLines; ++line) {
    const Copy* copy = agent.find(LineAddr(line));
    RC_ASSERT((copy != nullptr) == naive.far_holds(line));
    if (copy == nullptr) {
      RC_ASSERT(!naive.near_holds_part_of(line));
      continue;
    }
    RC_ASSERT(copy->line == LineAddr(line));
    RC_ASSERT(((copy->levels & 1) != 0) == naive.near_holds_part_of(line));
    RC_ASSERT((copy->levels & 2) != 0);
  }
}

RC_GTEST_PROP(CacheAgentProperty, TwoInclusiveLevelsAreTwoListsPerSet, ()) {
  const std::vector<CacheSpec> specs = {
      {.name = "L1D",
       .size_kib = 1,
       .ways = *rc::gen::element(1, 2, 4),
       .line_bytes = *rc::gen::element(16, 32),
       .hit_latency_cycles = 1},
      {.name = "L2", .size_kib = 2, .ways = *rc::gen::element(1, 2, 4), .line_bytes = 32, .hit_latency_cycles = 5}};
  static const Protocol protocol = shipped_protocol("mesi_snoop");
  LineStore store(32);
  CacheAgent agent(0, specs, protocol.cache, store, 4);
  OpenGate gate{agent};
  NaiveLevels naive(specs[0], specs[1]);
  const auto steps = *rc::gen::container<std::vector<std::pair<std::uint64_t, bool>>>(
      rc::gen::pair(rc::gen::inRange<std::uint64_t>(0, kLines * 32 / 8),
                    rc::gen::map(rc::gen::inRange(0, 10), [](int i) { return i == 0; })));
  Tick age = 0;
  for (const auto& [word, taken] : steps) {
    ++age;
    const Address address = word * 8;
    const LineAddr line = store.line_of(address);
    if (taken) {  // taken by a snoop
      if (Copy* copy = agent.find(line)) {
        agent.drop(*copy);
        RC_ASSERT(copy->slot == kNoSlot);  // whoever remembers the copy sees that it is gone
      }
      naive.drop(line.value);
      continue;
    }
    const CacheAgent::Lookup found = agent.look_up(address);
    RC_ASSERT(found.level == naive.access(address >> std::countr_zero(static_cast<unsigned>(specs[0].line_bytes))));
    if (found.level >= 0) agent.use(address, found.level, age);
    Copy* copy = found.copy != nullptr ? found.copy : agent.allocate(line, age, gate);
    if (found.level != 0) agent.promote(*copy, address, age, gate);
    RC_ASSERT(agent.look_up(address).level == 0);
  }
  check_levels(agent, naive);
}

// A gate that only lets lines that are `weak` leave.
struct StubbornGate {
  CacheAgent& agent;
  LineAddr weak;
  [[nodiscard]] bool may_leave(const Copy& copy) const { return copy.line == weak; }
  void leave(Copy& copy) const { agent.drop(copy); }
};

// Lines 0 and 96 share the only way of L2's set, and L2 can't evict line 96 now. L3, which is not inclusive, has evicted line
// 96. So line 0 gets no place in L2. It must not be put into L1 alone: after L3 evicted it, no look-up would find it.
TEST(CacheAgent, ALevelInsideAnInclusiveOneTakesNoLineThatTheInclusiveOneLacks) {
  const std::vector<CacheSpec> specs = {
      {.name = "L1D", .size_kib = 1, .ways = 4, .line_bytes = 32, .hit_latency_cycles = 1},
      {.name = "L2", .size_kib = 1, .ways = 1, .line_bytes = 32, .hit_latency_cycles = 5},
      {.name = "L3", .size_kib = 1, .ways = 2, .line_bytes = 32, .hit_latency_cycles = 9, .inclusive = false}};
  const Protocol protocol = shipped_protocol("mesi_snoop");
  LineStore store(32);
  CacheAgent agent(0, specs, protocol.cache, store, 4);
  StubbornGate gate{agent, LineAddr(1000)};
  const auto fetch = [&](std::uint64_t line, Tick age) {
    Copy* copy = agent.allocate(LineAddr(line), age, gate);
    ASSERT_NE(copy, nullptr);
    agent.promote(*copy, line * 32, age, gate);
  };
  fetch(96, 1);
  fetch(16, 2);  // lines 16 and 80 share a set of L3, but not of L2
  fetch(80, 3);  // L3 evicts line 96
  gate.weak = LineAddr(16);
  fetch(0, 4);  // L3 evicts line 16
  const Copy* copy = agent.find(LineAddr(0));
  ASSERT_NE(copy, nullptr);
  EXPECT_EQ(copy->levels, 4) << "L3 alone";
}

// Lines 0 and 64 share the only way of their sets in L1 and L2, but not in L3. The fast path refuses a store to a line in S
// and moves no line. A load of line 0 hits L3 and evicts line 64 from L1 and L2.
TEST(CacheAgent, AReadHitInTheThirdLevelPromotesTheLineIntoBothNearerOnes) {
  const std::vector<CacheSpec> specs = {{.name = "L1D", .size_kib = 1, .ways = 1, .line_bytes = 32, .hit_latency_cycles = 1},
                                        {.name = "L2", .size_kib = 2, .ways = 1, .line_bytes = 32, .hit_latency_cycles = 5},
                                        {.name = "L3", .size_kib = 4, .ways = 1, .line_bytes = 32, .hit_latency_cycles = 9}};
  const Protocol protocol = shipped_protocol("mesi_snoop");
  const auto shared = std::ranges::find(protocol.cache.states, "S", &StateInfo::name);
  LineStore store(32);
  CacheAgent agent(0, specs, protocol.cache, store, 4);
  OpenGate gate{agent};
  for (const std::uint64_t line : {0, 64}) {
    Copy* copy = agent.allocate(LineAddr(line), 1, gate);
    ASSERT_NE(copy, nullptr);
    agent.promote(*copy, line * 32, 1, gate);
    agent.set_state(*copy, static_cast<StateId>(shared - protocol.cache.states.begin()));
  }
  ASSERT_EQ(agent.find(LineAddr(0))->levels, 4) << "L3 alone";

  EXPECT_EQ(agent.hit_any_level(0, kWriteAccess, 2, 2, gate).copy, nullptr);
  EXPECT_EQ(agent.find(LineAddr(0))->levels, 4);

  const CacheAgent::Lookup found = agent.hit_any_level(0, kReadAccess, 3, 3, gate);
  EXPECT_EQ(found.copy, agent.find(LineAddr(0)));
  EXPECT_EQ(found.level, 2);
  EXPECT_EQ(agent.find(LineAddr(0))->levels, 7);
  EXPECT_EQ(agent.find(LineAddr(64))->levels, 4);
}

}  // namespace
}  // namespace linebounce::test
