#include "models/network/calendar.hpp"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <ostream>
#include <queue>
#include <vector>

namespace linebounce {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

struct Item {
  Tick at = 0;
  int order = 0;
  [[nodiscard]] bool operator>(const Item& other) const { return at != other.at ? at > other.at : order > other.order; }
  friend bool operator==(const Item&, const Item&) = default;
  friend void PrintTo(const Item& item, std::ostream* out) { *out << item.at << "/" << item.order; }
};

constexpr Tick kSlot = 16;
constexpr Tick kRing = kSlot * Calendar<Item>::kSlots;

std::vector<Item> all_of(Calendar<Item>& calendar) {
  std::vector<Item> taken;
  while (!calendar.empty()) taken.push_back(calendar.pop());
  return taken;
}

TEST(Calendar, GivesItemsInOrderOfTimeThenNumber) {
  Calendar<Item> calendar(kSlot);
  for (const Item& item : {Item{40, 2}, Item{7, 9}, Item{40, 1}, Item{3, 5}, Item{41, 0}}) calendar.push(item);
  EXPECT_EQ(calendar.next(), 3);
  EXPECT_THAT(all_of(calendar), ElementsAre(Item{3, 5}, Item{7, 9}, Item{40, 1}, Item{40, 2}, Item{41, 0}));
}

TEST(Calendar, KeepsWhatLiesBeyondTheRingUntilItIsDue) {
  Calendar<Item> calendar(kSlot);
  calendar.push({10 * kRing, 1});
  calendar.push({kRing, 2});
  calendar.push({kRing - 1, 3});
  EXPECT_THAT(calendar.items(), UnorderedElementsAre(Item{10 * kRing, 1}, Item{kRing, 2}, Item{kRing - 1, 3}));
  EXPECT_EQ(calendar.pop(), (Item{kRing - 1, 3}));
  // One that is far away does not keep a nearer one from coming in later.
  calendar.push({kRing + 5, 4});
  EXPECT_THAT(all_of(calendar), ElementsAre(Item{kRing, 2}, Item{kRing + 5, 4}, Item{10 * kRing, 1}));
}

TEST(Calendar, TakesAnItemBeforeAllOthersThatItHolds) {
  Calendar<Item> calendar(kSlot);
  calendar.push({20 * kSlot, 1});
  calendar.push({kSlot, 2});
  EXPECT_EQ(calendar.pop(), (Item{kSlot, 2}));
  calendar.push({kSlot, 3});
  EXPECT_EQ(calendar.next(), kSlot);
  EXPECT_THAT(all_of(calendar), ElementsAre(Item{kSlot, 3}, Item{20 * kSlot, 1}));
}

TEST(Calendar, GoesRoundTheRing) {
  Calendar<Item> calendar(kSlot);
  calendar.push({kRing - 1, 1});
  EXPECT_EQ(calendar.pop(), (Item{kRing - 1, 1}));
  // A slot before that of the last item in the ring, and behind it in time.
  calendar.push({2 * kRing - kSlot - 1, 2});
  calendar.push({kRing + 3, 3});
  EXPECT_THAT(all_of(calendar), ElementsAre(Item{kRing + 3, 3}, Item{2 * kRing - kSlot - 1, 2}));
}

RC_GTEST_PROP(Calendar, GivesWhatAHeapGives, ()) {
  Calendar<Item> calendar(*rc::gen::inRange<Tick>(1, 100));
  std::priority_queue<Item, std::vector<Item>, std::greater<>> heap;
  const Tick farthest = *rc::gen::element<Tick>(20, 1000, 30'000, 2'000'000);
  Tick now = 0;
  const auto delays = *rc::gen::container<std::vector<Tick>>(rc::gen::inRange<Tick>(-farthest, farthest));
  int order = 0;
  const auto take = [&] {
    RC_ASSERT(calendar.next() == heap.top().at);
    now = heap.top().at;
    RC_ASSERT(calendar.pop() == heap.top());
    heap.pop();
  };
  for (const Tick delay : delays) {  // those below 0: an item is taken
    if (delay < 0) {
      if (!heap.empty()) take();
    } else {
      const Item item{now + delay, order = (order * 7 + 3) % 1009};
      calendar.push(item);
      heap.push(item);
    }
    RC_ASSERT(calendar.empty() == heap.empty());
  }
  while (!heap.empty()) take();
  RC_ASSERT(calendar.empty());
}

}  // namespace
}  // namespace linebounce
