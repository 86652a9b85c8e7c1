#include "litmus/relation.hpp"

#include <algorithm>

namespace linebounce::sim::litmus {

bool Relation::empty() const {
  return std::ranges::all_of(bits_, [](std::uint64_t word) { return word == 0; });
}

Relation& Relation::operator|=(const Relation& other) {
  for (std::size_t i = 0; i < bits_.size(); ++i) bits_[i] |= other.bits_[i];
  return *this;
}
Relation& Relation::operator&=(const Relation& other) {
  for (std::size_t i = 0; i < bits_.size(); ++i) bits_[i] &= other.bits_[i];
  return *this;
}
Relation& Relation::operator-=(const Relation& other) {
  for (std::size_t i = 0; i < bits_.size(); ++i) bits_[i] &= ~other.bits_[i];
  return *this;
}

Relation Relation::then(const Relation& next) const {
  Relation result(events_);
  for (int from = 0; from < events_; ++from) {
    std::uint64_t* const out = result.row(from);
    for_each_bit(row(from), row_words_, [&](int middle) {
      const std::uint64_t* const reached = next.row(middle);
      for (std::size_t word = 0; word < row_words_; ++word) out[word] |= reached[word];
    });
  }
  return result;
}

Relation Relation::inverse() const {
  Relation result(events_);
  for (int from = 0; from < events_; ++from) for_each_bit(row(from), row_words_, [&](int to) { result.add(to, from); });
  return result;
}

void Relation::close() {
  for (int middle = 0; middle < events_; ++middle) {
    const std::uint64_t* const reached = row(middle);
    for (int from = 0; from < events_; ++from) {
      if (!has(from, middle)) continue;
      std::uint64_t* const out = row(from);
      for (std::size_t word = 0; word < row_words_; ++word) out[word] |= reached[word];
    }
  }
}

void Relation::add_identity() {
  for (int event = 0; event < events_; ++event) add(event, event);
}

void Relation::keep_from(const EventSet& set) {
  for (int from = 0; from < events_; ++from) {
    if (!set.has(from)) std::fill_n(row(from), row_words_, 0);
  }
}

void Relation::keep_to(const EventSet& set) {
  for (int from = 0; from < events_; ++from) {
    std::uint64_t* const out = row(from);
    for (std::size_t word = 0; word < row_words_; ++word) out[word] &= set.words()[word];
  }
}

EventSet Relation::domain() const {
  EventSet set(events_);
  for (int from = 0; from < events_; ++from) {
    if (std::any_of(row(from), row(from) + row_words_, [](std::uint64_t word) { return word != 0; })) set.add(from);
  }
  return set;
}

EventSet Relation::range() const {
  EventSet set(events_);
  for (int from = 0; from < events_; ++from) {
    for (std::size_t word = 0; word < row_words_; ++word) set.words()[word] |= row(from)[word];
  }
  return set;
}

bool Relation::is_irreflexive() const {
  for (int event = 0; event < events_; ++event) {
    if (has(event, event)) return false;
  }
  return true;
}

// Takes away events that lead nowhere until there are none; what is left then is on, or leads to, a cycle.
bool Relation::is_acyclic() const {
  EventSet left(events_);
  for (int event = 0; event < events_; ++event) left.add(event);
  for (bool is_changed = true; is_changed;) {
    is_changed = false;
    for_each_bit(left.words().data(), row_words_, [&](int event) {
      std::uint64_t leads = 0;
      for (std::size_t word = 0; word < row_words_; ++word) leads |= row(event)[word] & left.words()[word];
      if (leads != 0) return;
      left.words()[event / 64] &= ~(std::uint64_t{1} << (event % 64));
      is_changed = true;
    });
  }
  return std::ranges::all_of(left.words(), [](std::uint64_t word) { return word == 0; });
}

std::vector<int> Relation::cycle() const {
  std::vector<int> best;
  for (int start = 0; start < events_; ++start) {
    // Breadth first, so the first way back to `start` is a shortest one.
    std::vector<int> before(events_, -1), queue{start};
    bool is_back = false;
    for (std::size_t at = 0; at < queue.size() && !is_back; ++at) {
      for_each_bit(row(queue[at]), row_words_, [&](int to) {
        if (is_back || before[to] >= 0) return;
        before[to] = queue[at];
        is_back = to == start;
        if (!is_back) queue.push_back(to);
      });
    }
    if (!is_back) continue;
    std::vector<int> found{start};
    for (int event = before[start]; event != start; event = before[event]) found.push_back(event);
    std::ranges::reverse(found);
    if (best.empty() || found.size() < best.size()) best = found;
  }
  // Starts where the cycle's first event is, so that the same cycle is always written the same way.
  if (!best.empty()) std::rotate(best.begin(), std::ranges::min_element(best), best.end());
  return best;
}

}  // namespace linebounce::sim::litmus
