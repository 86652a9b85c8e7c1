// Takes events out of one ring.
#pragma once

#include <cstdint>

#include "record/collector/event.hpp"

namespace linebounce::record {

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

}  // namespace linebounce::record
