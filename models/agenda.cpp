#include "models/agenda.hpp"

#include <algorithm>
#include <bit>

#include "models/kernel_time.hpp"

namespace linebounce {

Agenda::Agenda(sc_core::sc_module_name name) : sc_module(name), times_(2, kNever), winners_(2, kRoot) {
  SC_HAS_PROCESS(Agenda);
  SC_METHOD(give_turns);
  sensitive << event_;
  dont_initialize();
}

void Agenda::add(Part& part) {
  part.agenda_ = this;
  parts_.push_back(&part);
  const std::size_t others = parts_.size() - 1;
  const std::size_t first = 2 * std::bit_ceil(std::max<std::size_t>(1, others));
  for (std::size_t i = 0; i < others; ++i) parts_[i]->leaf_ = first + i;
  part.leaf_ = kLastLeaf;
  at_leaf_.assign(2 * first, nullptr);
  for (Part* each : parts_) at_leaf_[each->leaf_] = each;
  times_.assign(2 * first, kNever);
  winners_.resize(2 * first);
  for (std::size_t node = 2 * first; --node > 0;) {
    const bool leaf = node >= first || node == kLastLeaf;
    winners_[node] = leaf ? static_cast<std::uint32_t>(node) : winners_[2 * node];
  }
}

void Agenda::set(std::size_t leaf, Tick at) {
  times_[leaf] = at;
  if (unsettled_ == leaf) unsettled_ = kNobody;
  for (std::size_t node = leaf / 2; node > 0; node /= 2) {
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
    const std::size_t leaf = winners_[kRoot];
    now_ = times_[leaf];
    times_[leaf] = kNever;
    unsettled_ = leaf;
    at_leaf_[leaf]->turn();
    settle();
  }
}

}  // namespace linebounce
