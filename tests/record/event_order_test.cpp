#include "record/collector/event_order.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace linebounce::record {
namespace {

// Writes into rings as recorded threads do.
class Rings {
 public:
  void write(unsigned ring, std::initializer_list<std::uint64_t> words) {
    Ring& to = *channel_ring(&shared_.channel(), ring);
    to.state = kRingInUse;
    for (const std::uint64_t word : words) to.words[to.next++ % kWords] = word;
  }
  void reserve(unsigned ring) { ++channel_ring(&shared_.channel(), ring)->next; }
  void end(unsigned ring) { channel_ring(&shared_.channel(), ring)->state = kRingEnded; }
  [[nodiscard]] Ring& ring(unsigned number) { return *channel_ring(&shared_.channel(), number); }
  Channel& channel() { return shared_.channel(); }

  static constexpr unsigned kWords = 16;

 private:
  SharedChannel shared_{kWords};
};

std::uint64_t load(std::uint64_t address) {
  return event_word(kLoad, 3, address);
}
std::uint64_t order(std::uint64_t stamp) {
  return event_word(kOrder, 0, stamp);
}

struct Seen {
  std::vector<std::uint64_t> values;
  EventOrder::Sink sink = [this](unsigned, const Event& event) { values.push_back(event.value); };
};
using Values = std::vector<std::uint64_t>;

TEST(EventOrder, StampsOrderEventsOfSeveralRings) {
  Rings rings;
  Seen seen;
  EventOrder order_of_events(rings.channel(), seen.sink);
  rings.write(0, {load(1), order(1), load(4)});
  rings.write(1, {load(2), order(0), load(3), order(2), load(5)});
  while (order_of_events.take_all()) {
  }
  EXPECT_EQ(seen.values, (Values{1, 2, 3, 4, 5}));
}

TEST(EventOrder, WaitsForAStampThatIsNotWrittenYet) {
  Rings rings;
  Seen seen;
  EventOrder order_of_events(rings.channel(), seen.sink);
  rings.write(0, {order(1), load(2)});
  rings.write(1, {load(7)});
  while (order_of_events.take_all()) {
  }
  EXPECT_EQ(seen.values, (Values{7}));
  rings.write(1, {order(0), load(1)});
  while (order_of_events.take_all()) {
  }
  EXPECT_EQ(seen.values, (Values{7, 1, 2}));
}

// Ring 0 is never empty, because its thread spins until the other thread acts. The collector must still read the other
// thread's ring, which may be full.
TEST(EventOrder, AThreadThatSpinsLeavesTimeForTheOneThatItWaitsFor) {
  Rings rings;
  bool has_come = false;
  EventOrder order_of_events(rings.channel(), [&](unsigned ring, const Event&) {
    has_come = has_come || ring == 1;
    if (!has_come) rings.write(0, {load(1)});
  });
  rings.write(0, {load(1)});
  rings.write(1, {load(2)});
  order_of_events.take_all();
  EXPECT_TRUE(has_come);
}

TEST(EventOrder, GoesOnWithoutTheStampOfAProgramThatWasKilled) {
  Rings rings;
  Seen seen;
  EventOrder order_of_events(rings.channel(), seen.sink);
  rings.write(0, {load(1), order(5), load(2)});
  order_of_events.finish();
  EXPECT_EQ(seen.values, (Values{1, 2}));
}

TEST(EventOrder, PassesOverAWordThatAKilledThreadDidNotWrite) {
  Rings rings;
  Seen seen;
  EventOrder order_of_events(rings.channel(), seen.sink);
  rings.write(0, {load(1)});
  rings.reserve(0);           // a handler interrupted the thread here, and
  rings.write(0, {load(2)});  // the program did not survive it
  order_of_events.finish();
  EXPECT_EQ(seen.values, (Values{1, 2}));
}

TEST(EventOrder, TakesEventsOfSeveralWordsAcrossTheRingsEnd) {
  Rings rings;
  std::vector<Event> seen;
  EventOrder order_of_events(rings.channel(), [&seen](unsigned, const Event& event) { seen.push_back(event); });
  for (int i = 0; i < 14; ++i) rings.write(0, {load(1)});
  order_of_events.take_all();
  seen.clear();
  rings.write(0, {event_word(kAllocate, 1, 64), event_word(kMore, 0, 24), event_word(kMore, 0, 0), event_word(kMore, 0, 99)});
  order_of_events.take_all();
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].value, 64U);
  EXPECT_EQ(seen[0].more[0], 24U);
  EXPECT_EQ(seen[0].more[2], 99U);
}

TEST(EventOrder, ARingThatEndedIsFreeForAnotherThread) {
  Rings rings;
  Seen seen;
  EventOrder order_of_events(rings.channel(), seen.sink);
  rings.write(0, {load(1)});
  rings.end(0);
  order_of_events.take_all();
  EXPECT_EQ(rings.ring(0).state, static_cast<std::uint32_t>(kRingFree));
  EXPECT_EQ(rings.ring(0).taken, 1U);
}

}  // namespace
}  // namespace linebounce::record
