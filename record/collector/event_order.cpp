#include "record/collector/event_order.hpp"

#include <algorithm>
#include <utility>

namespace linebounce::record {
namespace {

// Longest wait for a missing stamp. A thread that is cancelled between taking a stamp and writing it would otherwise block all
// other rings for ever.
constexpr std::chrono::seconds kLongestWaitForStamp{5};
// Most events taken from one ring in a row. A spinning thread produces events as fast as they are taken, so other rings could
// otherwise stay full for ever.
constexpr int kMostInARow = 16384;

// How many words the reader takes before it publishes `taken`. Large enough that the line of `taken` does not bounce; small
// enough that the writer does not wait for room.
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

// The store is atomic, because a writer that waits for room reads the word (ring.c, waits_for_itself).
std::uint64_t RingReader::take_word() {
  std::uint64_t* const place = &ring_->words[taken_++ & mask_];
  const std::uint64_t word = __atomic_load_n(place, __ATOMIC_RELAXED);
  __atomic_store_n(place, 0, __ATOMIC_RELAXED);
  return word;
}

bool RingReader::take(Event& event) {
  const std::uint64_t first = word(taken_);
  if (first == 0 || kind_of(first) == kMore) return false;
  take_word();
  event.kind = kind_of(first);
  event.detail = static_cast<unsigned>(first >> kValueBits) & 0xFF;
  event.value = first & EVENT_VALUE_MASK;
  // The clamp guards against a program that has overwritten its ring.
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

EventOrder::EventOrder(Channel& channel, Sink sink)
    : channel_(&channel), sink_(std::move(sink)), last_came_(std::chrono::steady_clock::now()) {}

// Rings are used in order: a new thread takes the first free one, so the first free ring ends the search.
void EventOrder::find_new_rings() {
  while (sources_.size() < kChannelRings) {
    Ring& ring = *channel_ring(channel_, static_cast<unsigned>(sources_.size()));
    if (__atomic_load_n(&ring.state, __ATOMIC_ACQUIRE) == kRingFree) return;
    sources_.push_back({.reader = RingReader(*channel_, ring)});
  }
}

bool EventOrder::may_go_on(Source& source) {
  if (!source.waits) return true;
  if (source.waits_for > next_stamp_) return false;
  source.waits = false;
  next_stamp_ = std::max(next_stamp_, source.waits_for + 1);
  return true;
}

bool EventOrder::take_from(unsigned ring) {
  Source& source = sources_[ring];
  int taken = 0;
  Event event;
  const bool has_ended = source.reader.has_ended();  // read before the ring: if the ring is then empty, nothing more follows
  for (; taken < kMostInARow && may_go_on(source); ++taken) {
    if (!source.reader.take(event)) {
      if (has_ended) source.reader.free();
      break;
    }
    if (event.kind == kOrder) {
      source.waits = true;
      source.waits_for = event.value;
    } else {
      sink_(ring, event);
    }
  }
  source.reader.give_back();
  return taken > 0;
}

bool EventOrder::take_all() {
  find_new_rings();
  bool anything = false;
  for (unsigned ring = 0; ring < sources_.size(); ++ring) anything |= take_from(ring);
  __atomic_store_n(&channel_->rounds, channel_->rounds + 1, __ATOMIC_RELEASE);
  pass_over_stamp_of_dead_thread(anything);
  return anything;
}

void EventOrder::pass_over_stamp_of_dead_thread(bool anything_came) {
  const auto now = std::chrono::steady_clock::now();
  if (anything_came || now - last_came_ > kLongestWaitForStamp) {
    if (!anything_came) pass_over_missing_stamp();
    last_came_ = now;
  }
}

bool EventOrder::pass_over_missing_stamp() {
  const Source* first = nullptr;
  for (const Source& source : sources_) {
    if (source.waits && (first == nullptr || source.waits_for < first->waits_for)) first = &source;
  }
  if (first == nullptr) return false;
  next_stamp_ = std::max(next_stamp_, first->waits_for);
  return true;
}

void EventOrder::finish() {
  bool more = true;
  while (more) {
    while (take_all()) {
    }
    more = pass_over_missing_stamp();
    for (Source& source : sources_) {
      if (!source.waits) more |= source.reader.skip_gap();
    }
  }
}

}  // namespace linebounce::record
