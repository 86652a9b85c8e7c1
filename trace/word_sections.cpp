#include "trace/word_sections.hpp"

#include <algorithm>
#include <utility>

namespace linebounce::trace {
namespace {

constexpr std::size_t kMostTickets = 8;         // most ticket locks that a thread may hold at once
constexpr std::uint64_t kTicketLockBytes = 64;  // largest distance between a ticket lock's two words, in bytes

bool are_near(std::uint64_t a, std::uint64_t b) {
  return a != b && (a < b ? b - a : a - b) < kTicketLockBytes;
}

}  // namespace

void WordSections::take(const Operation& operation, std::uint64_t number) {
  if (!operation.is_memory() || operation.repeats() > 0) return;
  const WordPlace at{operation.id, operation.argument};
  const bool releases = (operation.flags & kRelease) != 0;
  switch (operation.kind) {
    case Kind::load: return take_load(at);
    case Kind::exchange:
      return releases ? take_store(at, operation.bytes, true, number) : take_exchange(at, operation.bytes, number);
    case Kind::compare_exchange: return take_compare_exchange(at, (operation.flags & kFailed) != 0, number);
    case Kind::store: return take_store(at, operation.bytes, releases, number);
    case Kind::fetch_add: return take_fetch_add(at, operation.bytes, number);
    default: return;
  }
}

void WordSections::take_load(const WordPlace& at) {
  if (const auto use = uses_.find(at); use != uses_.end()) ++(use->second.held ? use->second.looks_since : use->second.looks);
  for (auto ticket = tickets_.rbegin(); ticket != tickets_.rend(); ++ticket) {
    if (ticket->drawn_from.object != at.object || !are_near(ticket->drawn_from.offset, at.offset)) continue;
    if (ticket->looked && ticket->serving != at.offset) continue;
    if (ticket->looked) ++ticket->looks;
    ticket->looked = true;
    ticket->serving = at.offset;
    return;
  }
}

// Of several exchanges in a row, only the last can have found the lock free. But if the thread acquired the lock by a
// compare-exchange, the exchange releases it.
void WordSections::take_exchange(const WordPlace& at, int bytes, std::uint64_t number) {
  Use& use = uses_[at];
  if (use.held && use.by_comparing) return end_section(at, use, bytes, number);
  if (use.held) ++use.retries;
  use.looks += std::exchange(use.looks_since, 0);
  use.held = true;
  use.acquired = number;
}

void WordSections::take_compare_exchange(const WordPlace& at, bool failed, std::uint64_t number) {
  Use& use = uses_[at];
  if (failed) {
    if (!use.held) ++use.retries;
    return;
  }
  if (use.held) ++misuses_[at];
  use.held = true;
  use.by_comparing = true;
  use.acquired = number;
}

void WordSections::take_store(const WordPlace& at, int bytes, bool releases, std::uint64_t number) {
  if (releases && ends_ticket(at, bytes, number)) return;
  const auto use = uses_.find(at);
  if (use != uses_.end() && use->second.held) return end_section(at, use->second, bytes, number);
  if (use != uses_.end() || watched_.contains(at) || served_.contains(at)) ++misuses_[at];
}

void WordSections::end_section(const WordPlace& at, Use& use, int bytes, std::uint64_t number) {
  const Use ended = std::exchange(use, {});
  sink_({.word = at,
         .tickets = at,
         .acquired = ended.acquired,
         .released = number,
         .retries = ended.retries,
         .looks = ended.looks,
         .bytes = bytes});
}

void WordSections::take_fetch_add(const WordPlace& at, int bytes, std::uint64_t number) {
  if (ends_ticket(at, bytes, number)) return;
  ++draws_[at];
  if (uses_.contains(at) || watched_.contains(at) || served_.contains(at)) ++misuses_[at];
  if (tickets_.size() == kMostTickets) tickets_.erase(tickets_.begin());
  tickets_.push_back({.drawn_from = at, .number = number});
}

bool WordSections::ends_ticket(const WordPlace& at, int bytes, std::uint64_t number) {
  const auto ticket = std::find_if(tickets_.rbegin(), tickets_.rend(), [&at](const Ticket& one) {
    return one.looked && one.drawn_from.object == at.object && one.serving == at.offset;
  });
  if (ticket == tickets_.rend()) return false;
  served_.insert(at);
  sink_({.word = at,
         .tickets = ticket->drawn_from,
         .acquired = ticket->number,
         .released = number,
         .retries = ticket->looks,
         .looks = ticket->looks,
         .bytes = bytes});
  tickets_.erase(std::next(ticket).base());
  return true;
}

}  // namespace linebounce::trace
