#include "record/collector/ring_reader.hpp"

#include <algorithm>

namespace linebounce::record {

namespace {

// Often enough for the writer not to wait, seldom enough for its line not to bounce.
constexpr std::uint64_t kGiveBackEvery = 512;

unsigned kind_of(std::uint64_t word) {
  return static_cast<unsigned>(word >> (kValueBits + kDetailBits));
}

}  // namespace

RingReader::RingReader(const Channel& channel, Ring& ring)
    : ring_(&ring), mask_(channel.ring_words - 1), taken_(__atomic_load_n(&ring.taken, __ATOMIC_RELAXED)) {}

std::uint64_t RingReader::word(std::uint64_t at) const {
  return __atomic_load_n(&ring_->words[at & mask_], __ATOMIC_ACQUIRE);
}

std::uint64_t RingReader::take_word() {
  std::uint64_t& place = ring_->words[taken_++ & mask_];
  const std::uint64_t word = place;
  place = 0;
  return word;
}

bool RingReader::take(Event& event) {
  const std::uint64_t first = word(taken_);
  if (first == 0 || kind_of(first) == kMore) return false;
  take_word();
  event.kind = kind_of(first);
  event.detail = static_cast<unsigned>(first >> kValueBits) & 0xFF;
  event.value = first & EVENT_VALUE_MASK;
  // A program may have written over its ring.
  const std::size_t behind = std::min<std::size_t>(words_behind(event.kind, event.detail), event.more.size());
  for (std::size_t i = 0; i < behind; ++i) event.more[i] = take_word() & EVENT_VALUE_MASK;
  if (taken_ % kGiveBackEvery <= behind) give_back();
  return true;
}

bool RingReader::skip_gap() {
  const std::uint64_t end = __atomic_load_n(&ring_->next, __ATOMIC_ACQUIRE);
  while (taken_ < end && taken_ < ring_->taken + mask_ + 1) {
    const unsigned kind = kind_of(word(taken_));
    if (kind != kNoEvent && kind != kMore) return true;
    take_word();
  }
  return false;
}

void RingReader::give_back() {
  __atomic_store_n(&ring_->taken, taken_, __ATOMIC_RELEASE);
}

bool RingReader::has_ended() const {
  return __atomic_load_n(&ring_->state, __ATOMIC_ACQUIRE) == kRingEnded;
}

void RingReader::free() {
  give_back();
  __atomic_store_n(&ring_->state, kRingFree, __ATOMIC_RELEASE);
}

}  // namespace linebounce::record
