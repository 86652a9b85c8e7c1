#include "models/network/calendar.hpp"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <deque>
#include <ostream>
#include <queue>
#include <vector>

namespace linebounce {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

struct Item {
  Tick due = 0;
  int order = 0;
  Item* next = nullptr;
  [[nodiscard]] bool operator>(const Item& other) const { return due != other.due ? due > other.due : order > other.order; }
};

// The parts of an item that the tests compare.
struct Seen {
  Tick due = 0;
  int order = 0;
  Seen(Tick at, int number) : due(at), order(number) {}
  explicit Seen(const Item& item) : Seen(item.due, item.order) {}
  friend bool operator==(const Seen&, const Seen&) = default;
  friend void PrintTo(const Seen& seen, std::ostream* out) { *out << seen.due << "/" << seen.order; }
};

constexpr Tick kSlot = 16;
constexpr Tick kRing = kSlot * Calendar<Item>::kSlots;

// A calendar and its items, whose addresses never change.
struct Held {
  explicit Held(Tick slot = kSlot) : calendar(slot) {}
  void push(Tick due, int order) { calendar.push(items.emplace_back(Item{due, order})); }
  Seen pop() { return Seen(calendar.pop()); }
  [[nodiscard]] Tick next() const { return calendar.next(); }
  [[nodiscard]] bool empty() const { return calendar.next() == kNever; }
  std::vector<Seen> all() {
    std::vector<Seen> taken;
    while (!empty()) taken.push_back(pop());
    return taken;
  }

  Calendar<Item> calendar;
  std::deque<Item> items;
};

TEST(Calendar, GivesItemsInOrderOfTimeThenNumber) {
  Held calendar;
  calendar.push(40, 2);
  calendar.push(7, 9);
  calendar.push(40, 1);
  calendar.push(3, 5);
  calendar.push(41, 0);
  EXPECT_EQ(calendar.next(), 3);
  EXPECT_THAT(calendar.all(), ElementsAre(Seen{3, 5}, Seen{7, 9}, Seen{40, 1}, Seen{40, 2}, Seen{41, 0}));
}

TEST(Calendar, KeepsWhatLiesBeyondTheRingUntilItIsDue) {
  Held calendar;
  calendar.push(10 * kRing, 1);
  calendar.push(kRing, 2);
  calendar.push(kRing - 1, 3);
  std::vector<Seen> held;
  for (const Item* item : calendar.calendar.items()) held.emplace_back(*item);
  EXPECT_THAT(held, UnorderedElementsAre(Seen{10 * kRing, 1}, Seen{kRing, 2}, Seen{kRing - 1, 3}));
  EXPECT_EQ(calendar.pop(), (Seen{kRing - 1, 3}));
  // An item nearer in time than one already in the calendar goes before it.
  calendar.push(kRing + 5, 4);
  EXPECT_THAT(calendar.all(), ElementsAre(Seen{kRing, 2}, Seen{kRing + 5, 4}, Seen{10 * kRing, 1}));
}

TEST(Calendar, TakesAnItemBeforeAllOthersThatItHolds) {
  Held calendar;
  calendar.push(20 * kSlot, 1);
  calendar.push(kSlot, 2);
  EXPECT_EQ(calendar.pop(), (Seen{kSlot, 2}));
  calendar.push(kSlot, 3);
  EXPECT_EQ(calendar.next(), kSlot);
  EXPECT_THAT(calendar.all(), ElementsAre(Seen{kSlot, 3}, Seen{20 * kSlot, 1}));
}

TEST(Calendar, GoesRoundTheRing) {
  Held calendar;
  calendar.push(kRing - 1, 1);
  EXPECT_EQ(calendar.pop(), (Seen{kRing - 1, 1}));
  // The item is in a slot before that of the ring's last item, but later in time.
  calendar.push(2 * kRing - kSlot - 1, 2);
  calendar.push(kRing + 3, 3);
  EXPECT_THAT(calendar.all(), ElementsAre(Seen{kRing + 3, 3}, Seen{2 * kRing - kSlot - 1, 2}));
}

RC_GTEST_PROP(Calendar, GivesWhatAHeapGives, ()) {
  Held calendar(*rc::gen::inRange<Tick>(1, 100));
  std::priority_queue<Item, std::vector<Item>, std::greater<>> heap;
  const Tick farthest = *rc::gen::element<Tick>(20, 1000, 30'000, 2'000'000);
  Tick now = 0;
  const auto delays = *rc::gen::container<std::vector<Tick>>(rc::gen::inRange<Tick>(-farthest, farthest));
  int order = 0;
  const auto take = [&] {
    RC_ASSERT(calendar.next() == heap.top().due);
    now = heap.top().due;
    RC_ASSERT(calendar.pop() == Seen(heap.top()));
    heap.pop();
  };
  for (const Tick delay : delays) {  // a negative delay: the test takes an item instead of adding one
    if (delay < 0) {
      if (!heap.empty()) take();
    } else {
      const Item item{now + delay, order = (order * 7 + 3) % 1009};
      calendar.push(item.due, item.order);
      heap.push(item);
    }
    RC_ASSERT(calendar.empty() == heap.empty());
  }
  while (!heap.empty()) take();
  RC_ASSERT(calendar.empty());
}

}  // namespace
}  // namespace linebounce
