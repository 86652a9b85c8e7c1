// Merges the rings: events come out in an order in which they can have happened. What one thread did before it handed something
// on (by a lock, a condition, an atomic, its end) comes before what another did with it.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "record/collector/shared_channel.hpp"
#include "record/runtime/channel.h"

namespace linebounce::record {

// One event of a recorded thread, as record/runtime/channel.h describes them.
struct Event {
  unsigned kind = kNoEvent;
  unsigned detail = 0;
  std::uint64_t value = 0;
  std::array<std::uint64_t, 2 + kMostFrames> more{};
};

// Words behind the first.
constexpr unsigned words_behind(unsigned kind, unsigned detail) {
  switch (kind) {
    case kEnterAt:
    case kFetchAddAt:
    case kLoadRange:
    case kStoreRange:
    case kFree:
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

  // False: nothing more has come yet.
  bool take(Event& event);
  // Of a thread that was killed: passes over a half-written event. False: nothing more has come at all.
  bool skip_gap();
  // The words that were taken may be written again.
  void give_back();

  [[nodiscard]] bool has_ended() const;
  // Another thread may have it. REQUIRES: it has ended, and nothing more is in it.
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
  // Gets each event, with the number of the ring that it was in.
  using Sink = std::function<void(unsigned ring, const Event&)>;

  EventOrder(Channel& channel, Sink sink);

  // Hands on what can be now. False: there was nothing.
  bool take_all();
  // The program has ended: hands on all that is left, also what waits for a stamp that nobody has written.
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
  // Of the stamps that rings wait for, the smallest is as good as come. False: no ring waits.
  bool pass_over_missing_stamp();
  void pass_over_stamp_of_dead_thread(bool anything_came);

  Channel* channel_;
  Sink sink_;
  std::vector<Source> sources_;
  std::uint64_t next_stamp_ = 0;
  std::chrono::steady_clock::time_point last_came_;
};

}  // namespace linebounce::record
