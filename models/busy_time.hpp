// Measures how long a resource, such as a link or a bus's data lines, is busy in the measured time. The resource serves one
// transfer at a time. A transfer that begins in the measured time counts only up to the end of that time. In a run until the
// last program ends, this end is not known while transfers are added.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "models/units.hpp"

namespace linebounce {

// `kLatest`: how many of the latest transfers are remembered. The busy time is exact if no more than that many extend beyond
// the end of the measured time.
template <std::size_t kLatest>
class BusyTime {
 public:
  // The measured time begins at `begin` and ends at `end`, or, if that is kNever, when the last program ends.
  BusyTime(Tick begin, Tick end) : begin_(begin), length_(static_cast<std::uint64_t>(end - begin)) {}

  // Adds a transfer of `duration` that begins at `from`. `end`: the end of the measured time, or kNever if it is not known
  // yet. Returns true if the transfer begins in the measured time. REQUIRES: `from` is not before the end of the previous
  // transfer.
  bool add(Tick from, Tick duration, Tick end) {
    if (static_cast<std::uint64_t>(from - begin_) >= length_) return false;
    if (end == kNever) [[likely]] {
      latest_[added_++ % kLatest] = {from, from + duration};
      sum_ += duration;
    } else {
      sum_ += std::max<Tick>(0, std::min(duration, end - from));
    }
    return true;
  }

  // The busy part of the measured time, which ended at `end`; exact if at most kLatest transfers extend beyond `end`.
  [[nodiscard]] Tick until(Tick end) const {
    Tick sum = sum_;
    bool all_outlast = true;
    for (const Transfer& transfer : latest_) {
      sum -= std::max<Tick>(0, transfer.until - std::max(transfer.from, end));
      all_outlast = all_outlast && transfer.from > end;
    }
    return all_outlast ? std::min(sum, std::max<Tick>(0, end - begin_)) : sum;
  }

 private:
  struct Transfer {
    Tick from, until;
  };

  Tick begin_;
  std::uint64_t length_;
  Tick sum_ = 0;
  std::size_t added_ = 0;
  // The latest transfers, which may extend beyond the end of the measured time. Used only while that end is unknown.
  std::array<Transfer, kLatest> latest_ = {};
};

}  // namespace linebounce
