#include "models/event_scheduler.hpp"

#include <fmt/format.h>

#include <bit>
#include <stdexcept>

#include "models/failure.hpp"

namespace linebounce {

void EventScheduler::Part::refuse(Tick at) {
  throw ModelFailure(
      fmt::format("the run goes on to tick {}, and {} is the last that can be scheduled: simulate less time", at, kLatest));
}

void EventScheduler::add(Part& part) {
  if (parts_.size() == kMostParts) throw std::length_error(fmt::format("an event scheduler has room for {} parts", kMostParts));
  part.scheduler_ = this;
  part.rank_ = static_cast<Tick>(parts_.size());
  const std::size_t others = parts_.size();
  const std::size_t first = 2 * std::bit_ceil(std::max<std::size_t>(1, others));
  for (std::size_t i = 0; i < others; ++i) parts_[i]->leaf_ = first + i;
  part.leaf_ = kLastLeaf;
  parts_.push_back(&part);
  keys_.assign(2 * first, kNever);
}

void EventScheduler::run_until(Tick until) {
  constexpr Tick kRankMask = kMostParts - 1;
  until_ = until;
  if (outside_ != kNever) outside_ = until;
  while (next() < until_) {
    Part& part = *parts_[keys_[kRoot] & kRankMask];
    now_ = next();
    keys_[part.leaf_] = kNever;
    unsettled_ = part.leaf_;
    part.turn();
    settle();
  }
  now_ = until_;
}

}  // namespace linebounce
