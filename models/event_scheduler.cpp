#include "models/event_scheduler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "models/failure.hpp"

namespace linebounce {

void EventScheduler::Part::refuse(Tick at) {
  throw ModelFailure(
      fmt::format("the run goes on to tick {}, and {} is the last that can be scheduled: simulate less time", at, kLatest));
}

void EventScheduler::add(Part& part, Turns turns) {
  if (parts_.size() == kMostParts) throw std::length_error(fmt::format("an event scheduler has room for {} parts", kMostParts));
  part.scheduler_ = this;
  part.rank_ = static_cast<Tick>(parts_.size());
  part.turns_ = turns;
  parts_.push_back(&part);
  std::size_t top = kRoot;  // root of the subtree for the parts that are not placed yet
  std::size_t unplaced = parts_.size();
  std::size_t last_leaf = kRoot;
  for (const Turns kind : {Turns::most, Turns::many, Turns::few}) {
    const auto count =
        static_cast<std::size_t>(std::ranges::count(parts_, kind, [](const Part* each) { return each->turns_; }));
    if (count == 0) continue;
    unplaced -= count;
    const std::size_t root = unplaced == 0 ? top : 2 * top + 1;
    top *= 2;
    // In a complete tree of `count` leaves, numbered by level from 1, the leaves have the numbers from `count` on.
    std::size_t number = count;
    for (Part* each : parts_) {
      if (each->turns_ != kind) continue;
      const std::size_t first_of_level = std::bit_floor(number);
      each->leaf_ = root * first_of_level + number - first_of_level;
      last_leaf = std::max(last_leaf, each->leaf_);
      ++number;
    }
  }
  keys_.assign((last_leaf | 1) + 1, kNever);
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
