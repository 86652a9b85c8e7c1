#include "models/event_scheduler.hpp"

#include <algorithm>
#include <bit>

#include "models/kernel_time.hpp"

namespace linebounce {

EventScheduler::EventScheduler(sc_core::sc_module_name name) : sc_module(name), keys_(2, kNever) {
  SC_HAS_PROCESS(EventScheduler);
  SC_METHOD(give_turns);
  sensitive << event_;
  dont_initialize();
}

void EventScheduler::add(Part& part) {
  part.scheduler_ = this;
  part.rank_ = static_cast<std::uint32_t>(parts_.size());
  parts_.push_back(&part);
  const std::size_t others = parts_.size() - 1;
  const std::size_t first = 2 * std::bit_ceil(std::max<std::size_t>(1, others));
  for (std::size_t i = 0; i < others; ++i) parts_[i]->leaf_ = static_cast<std::uint32_t>(first + i);
  part.leaf_ = kLastLeaf;
  by_rank_ = parts_;
  keys_.assign(2 * first, kNever);
}

void EventScheduler::run_for(Tick duration) {
  until_ += duration;
  event_.notify(sc_core::SC_ZERO_TIME);
  sc_core::sc_start(kernel_time(duration));
  if (!stopped_) now_ = until_;
}

void EventScheduler::give_turns() {
  const Tick kernel = kernel_now();
  while (!stopped_ && next() < until_) {
    if (keeps_kernel_time_ && next() > kernel) {
      event_.notify(kernel_time(next() - kernel));
      return;
    }
    const Tick key = keys_[kRoot];
    now_ = key >> kRankBits;
    Part& part = *by_rank_[static_cast<std::size_t>(key) & ((1U << kRankBits) - 1)];
    keys_[part.leaf_] = kNever;
    unsettled_ = part.leaf_;
    part.turn();
    settle();
  }
}

}  // namespace linebounce
