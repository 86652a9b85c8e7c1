// Tests both sides of a ring, the runtime's and the collector's, in threads of one process, where ThreadSanitizer sees both
// (preset tsan).
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "record/collector/event_order.hpp"

extern "C" {
#include "record/runtime/events.h"
// What the tested part needs of the runtime; each thread has its own `followed_thread`.
struct Channel* channel;
std::uint64_t ring_mask;
bool recording;
__thread struct Thread* followed_thread;
struct Ring* ring_of_new_thread() {
  return nullptr;
}
}

namespace linebounce::record {
namespace {

constexpr unsigned kWriters = 3;
constexpr std::uint64_t kRounds = 1000;
constexpr std::uint32_t kWords = 32;  // so few that writers wait for room

struct Counter {
  std::mutex lock;
  std::uint64_t value = 0;
};

// Like a thread of a recorded program that counts under a lock. The events of a round take nine words.
void count(Ring& ring, Counter& counter) {
  Thread self{};
  self.ring = &ring;
  followed_thread = &self;
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    const std::lock_guard held(counter.lock);
    const std::uint64_t number = ++counter.value;
    record_in_order(kAcquire, kMutex, number);
    const std::uint64_t bytes = 8 * number;
    record_with(kStoreRange, 0, number, &bytes, 1);
    ::record(kLoad, 3, number);
    record_in_order_with(kConditionWoken, 1, number, &bytes, 1);
  }
  followed_thread = nullptr;
  __atomic_store_n(&ring.state, kRingEnded, __ATOMIC_RELEASE);
}

TEST(RingThreads, TheCollectorSeesEventsWholeAndInTheOrderOfTheirLock) {
  SharedChannel shared(kWords);
  channel = &shared.channel();
  channel->collector = static_cast<std::uint32_t>(::getpid());
  ring_mask = kWords - 1;
  recording = true;
  Counter counter;
  std::vector<std::thread> writers;
  for (unsigned writer = 0; writer < kWriters; ++writer) {
    Ring& ring = *channel_ring(channel, writer);
    ring.state = kRingInUse;
    ring.limit = kWords;
    writers.emplace_back([&ring, &counter] { count(ring, counter); });
  }
  std::uint64_t seen = 0, wrong = 0;
  constexpr unsigned kOfARound[] = {kAcquire, kStoreRange, kLoad, kConditionWoken};
  EventOrder order(*channel, [&](unsigned, const Event& event) {
    const std::uint64_t number = seen / 4 + 1;
    const bool is_long = event.kind == kStoreRange || event.kind == kConditionWoken;
    if (event.kind != kOfARound[seen % 4] || event.value != number || (is_long && event.more[0] != 8 * number)) ++wrong;
    ++seen;
  });
  while (seen < 4 * kWriters * kRounds && recording) order.take_all();
  for (std::thread& writer : writers) writer.join();
  order.finish();
  EXPECT_EQ(seen, 4 * kWriters * kRounds);
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace linebounce::record
