#include "models/agenda.hpp"

#include <algorithm>
#include <bit>

#include "models/kernel_time.hpp"

namespace linebounce {

Agenda::Agenda(sc_core::sc_module_name name) : sc_module(name), times_(1, kNever), winners_(2, 0) {
  SC_HAS_PROCESS(Agenda);
  SC_METHOD(give_turns);
  sensitive << event_;
  dont_initialize();
}

void Agenda::add(Part& part) {
  part.agenda_ = this;
  part.place_ = parts_.size();
  parts_.push_back(&part);
  leaves_ = std::bit_ceil(parts_.size());
  times_.assign(leaves_, kNever);
  winners_.assign(2 * leaves_, 0);
  for (std::size_t leaf = 0; leaf < leaves_; ++leaf) winners_[leaves_ + leaf] = static_cast<std::uint32_t>(leaf);
  for (std::size_t node = leaves_ - 1; node > 0; --node) winners_[node] = winners_[2 * node];
}

void Agenda::set(std::size_t place, Tick at) {
  times_[place] = at;
  if (unsettled_ == place) unsettled_ = kNobody;
  for (std::size_t node = (leaves_ + place) / 2; node > 0; node /= 2) {
    const std::uint32_t left = winners_[2 * node];
    const std::uint32_t right = winners_[2 * node + 1];
    winners_[node] = times_[right] < times_[left] ? right : left;
  }
}

void Agenda::run_for(Tick duration) {
  until_ += duration;
  event_.notify(sc_core::SC_ZERO_TIME);
  sc_core::sc_start(kernel_time(duration));
  if (!stopped_) now_ = until_;
}

void Agenda::give_turns() {
  const Tick kernel = kernel_now();
  while (!stopped_ && next() < until_) {
    if (keeps_kernel_time_ && next() > kernel) {
      event_.notify(kernel_time(next() - kernel));
      return;
    }
    const std::size_t place = winners_[1];
    now_ = times_[place];
    times_[place] = kNever;
    unsettled_ = place;
    parts_[place]->turn();
    settle();
  }
}

}  // namespace linebounce
