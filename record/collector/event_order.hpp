// Merges the rings: events come out in an order in which they can have happened. What one thread did before it handed something
// on (by a lock, a condition, an atomic, its end) comes before what another did with it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "record/collector/ring_reader.hpp"
#include "record/collector/shared_channel.hpp"

namespace linebounce::record {

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
