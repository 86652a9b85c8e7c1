// How long something that serves one transfer at a time (a bus's address or data lines, a link) is busy in the measured time.
// Transfers that begin in the measured time count up to its end, which may be known only once all programs have ended.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "models/units.hpp"

namespace linebounce {

// `kLatest`: how many transfers are reserved at once. With more, busy time is exact but for those that outlast the measured
// time.
template <std::size_t kLatest>
class BusyTime {
 public:
  // The measured time begins at `begin` and ends at `end`, or, if that is kNever, when the last program ends.
  BusyTime(Tick begin, Tick end) : begin_(begin), length_(static_cast<std::uint64_t>(end - begin)) {}

  // Adds a transfer of `duration` from `from` on. `end`: that of the measured time, as far as it is known now; else kNever.
  // Returns whether the transfer begins between the constructor's times. REQUIRES: `from` is not before the end of the transfer
  // added last.
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

  // The busy part of the measured time, which ended at `end`; exact if at most kLatest transfers were under way or reserved
  // then.
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
  std::array<Transfer, kLatest> latest_ = {};  // of a run whose end is not known yet: any of them may outlast it
};

}  // namespace linebounce
