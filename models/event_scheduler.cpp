#include "models/event_scheduler.hpp"

#include <fmt/format.h>

#include <bit>
#include <stdexcept>

#include "models/failure.hpp"
#include "models/kernel_time.hpp"

namespace linebounce {

void EventScheduler::Part::refuse(Tick at) {
  throw ModelFailure(
      fmt::format("the run goes on to tick {}, and {} is the last that can be scheduled: simulate less time", at, kLatest));
}

EventScheduler::EventScheduler(sc_core::sc_module_name name) : sc_module(name), keys_(2, kNever) {
  SC_HAS_PROCESS(EventScheduler);
  SC_METHOD(give_turns);
  sensitive << event_;
  dont_initialize();
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

void EventScheduler::run_for(Tick duration) {
  until_ += duration;
  event_.notify(sc_core::SC_ZERO_TIME);
  sc_core::sc_start(kernel_time(duration));
  if (!stopped_) now_ = until_;
}

void EventScheduler::give_turns() {
  constexpr Tick kRankMask = kMostParts - 1;
  const Tick kernel = kernel_now();
  while (!stopped_ && next() < until_) {
    if (keeps_kernel_time_ && next() > kernel) {
      event_.notify(kernel_time(next() - kernel));
      return;
    }
    Part& part = *parts_[keys_[kRoot] & kRankMask];
    now_ = next();
    keys_[part.leaf_] = kNever;
    unsettled_ = part.leaf_;
    part.turn();
    settle();
  }
}

}  // namespace linebounce
