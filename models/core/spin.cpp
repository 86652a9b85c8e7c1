#include "models/core/spin.hpp"

#include <algorithm>

namespace linebounce {

bool Spin::park(std::span<const Value> values, int bytes, Tick at) {
  for (std::size_t i = 0; i < words_.size(); ++i) {
    const Copy* copy = unit_->watch(words_[i]);
    if (copy == nullptr || unit_->peek(*copy, words_[i], bytes) != values[i]) return false;
  }
  parked_at_ = at;
  counted_ = 0;
  return true;
}

void Spin::set_watched(bool watched) {
  for (const Address word : words_) unit_->set_watched(word, watched);
}

std::int64_t Spin::first_load_from(Tick at) const {
  if (at <= parked_at_) return 0;
  const Tick rest = (at - parked_at_) % period();
  const std::int64_t in_iteration = std::min(words_count(), (rest + load_latency_ - 1) / load_latency_);
  return (at - parked_at_) / period() * words_count() + in_iteration;
}

Spin::Loads Spin::count_until(Tick limit) {
  const std::int64_t end = first_load_from(limit);
  const std::int64_t begin = counted_;
  if (end <= begin) return {};
  counted_ = end;
  for (std::int64_t load = std::max(begin, end - words_count()); load < end; ++load) use_word(load);
  const std::int64_t pauses = end / words_count() - begin / words_count();
  return {end - begin, end - begin + kPauseInstructions * pauses};
}

void Spin::use_word(std::int64_t load) {
  const Address word = words_[load % words_count()];
  CacheAgent& caches = unit_->caches();
  if (!caches.nearest_holds(word)) return;
  const Tick at = time_of(load);
  caches.use(word, 0, at);
  Copy& copy = *caches.find(caches.store().line_of(word));
  copy.last_touch = std::max(copy.last_touch, at);  // a sibling's spin on the same line may already have counted later loads
}

Tick Spin::resume() {
  next_word_ = counted_ % words_count();
  return time_of(counted_);
}

bool Spin::watches(LineAddr line) const {
  const LineStore& store = unit_->caches().store();
  return std::any_of(words_.begin(), words_.end(), [&](Address word) { return store.line_of(word) == line; });
}

bool Spin::in_nearest_level() const {
  const CacheAgent& caches = unit_->caches();
  return std::all_of(words_.begin(), words_.end(), [&](Address word) { return caches.nearest_holds(word); });
}

}  // namespace linebounce
