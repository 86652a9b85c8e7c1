// Merges the rings into one possible order of events. If a thread hands something over (a lock, a condition, an atomic word,
// its own end), its earlier events come before the receiving thread's later events.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "record/collector/shared_channel.hpp"
#include "record/runtime/channel.h"

namespace linebounce::record {

// One event of a recorded thread, as described in record/runtime/channel.h.
struct Event {
  unsigned kind = kNoEvent;
  unsigned detail = 0;
  std::uint64_t value = 0;
  std::array<std::uint64_t, 2 + kMostFrames> more{};
};

// The number of words that follow an event's first word.
constexpr unsigned words_behind(unsigned kind, unsigned detail) {
  switch (kind) {
    case kEnterAt:
    case kFetchAddAt:
    case kLoadRange:
    case kStoreRange:
    case kFree:
    case kPages:
    case kWorked:
    case kCreate:
    case kConditionWait:
    case kConditionWoken:
    case kSemaphoreInit:
    case kBarrierInit: return 1;
    case kThreadBegin: return 3;
    case kAllocate: return 2 + (detail & kReturnAddresses);
    default: return 0;
  }
}

// Takes events out of one ring.
class RingReader {
 public:
  RingReader(const Channel& channel, Ring& ring);

  // Returns false if there is no complete event yet.
  bool take(Event& event);
  // Skips an event that a killed thread left half written. Returns false if nothing follows it.
  bool skip_gap();
  // Lets the writer reuse the words that were taken.
  void give_back();

  [[nodiscard]] bool has_ended() const;
  // Frees the ring for another thread. REQUIRES: its thread has ended, and the ring is empty.
  void free();

 private:
  [[nodiscard]] std::uint64_t word(std::uint64_t at) const;
  std::uint64_t take_word();

  Ring* ring_;
  std::uint64_t mask_;
  std::uint64_t taken_;
};

class EventOrder {
 public:
  // Receives each event with the number of its ring.
  using Sink = std::function<void(unsigned ring, const Event&)>;

  EventOrder(Channel& channel, Sink sink);

  // Passes on all events that can be ordered now. Returns false if there were none.
  bool take_all();
  // Called when the program has ended. Passes on all remaining events, even those behind a stamp that was never written.
  void finish();

 private:
  struct Source {
    RingReader reader;
    std::uint64_t waits_for = 0;  // stamp
    bool waits = false;
  };

  bool take_from(unsigned ring);
  bool may_go_on(Source& source);
  void find_new_rings();
  // Treats the smallest missing stamp as written. Returns false if no ring waits for a stamp.
  bool pass_over_missing_stamp();
  void pass_over_stamp_of_dead_thread(bool anything_came);

  Channel* channel_;
  Sink sink_;
  std::vector<Source> sources_;
  std::uint64_t next_stamp_ = 0;
  std::chrono::steady_clock::time_point last_came_;
};

}  // namespace linebounce::record
