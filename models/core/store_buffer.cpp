#include "models/core/store_buffer.hpp"

#include <algorithm>

namespace linebounce {
namespace {

constexpr Address kWord = 8;  // in bytes; no operation crosses a multiple of 8

}  // namespace

bool StoreBuffer::eligible(std::size_t index) const {
  const Entry& entry = entries_[index];
  if (entry.in_flight || entry.ready == kNever) return false;
  if (index == 0) return true;
  if (in_order_ || entry.release) return false;
  // Stores to the same word drain in program order.
  return std::none_of(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(index), [&entry](const Entry& earlier) {
    return earlier.operation.address / kWord == entry.operation.address / kWord;
  });
}

Tick StoreBuffer::next_drain_of_any() const {
  Tick next = kNever;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (eligible(i)) next = std::min(next, entries_[i].ready);
  }
  return next;
}

StoreBuffer::Entry& StoreBuffer::due(Tick at) {
  std::size_t i = 0;
  while (!eligible(i) || entries_[i].ready != at) ++i;
  return entries_[i];
}

const Operation& StoreBuffer::operation(int id) const {
  return std::find_if(entries_.begin(), entries_.end(), [id](const Entry& entry) { return entry.id == id; })->operation;
}

void StoreBuffer::remove(int id, Tick next_ready) {
  std::erase_if(entries_, [id](const Entry& entry) { return entry.id == id; });
  for (Entry& entry : entries_) entry.ready = std::max(entry.ready, next_ready);
}

void StoreBuffer::retry(Tick at, Source source) {
  for (Entry& entry : entries_) {
    if (entry.ready != kNever) continue;
    entry.ready = at;
    entry.operation.waited_for = source;
  }
}

int StoreBuffer::draining_to(Address line, int line_bytes) const {
  int count = 0;
  for (const Entry& entry : entries_) {
    const bool to_line = entry.operation.address - line < static_cast<Address>(line_bytes);
    if (to_line && (in_order_ || !entry.release || count == 0)) ++count;
    if (!to_line && in_order_) break;
  }
  return count;
}

StoreBuffer::Forward StoreBuffer::forward(Address address, int bytes) const {
  for (std::size_t i = entries_.size(); i-- > 0;) {
    const Operation& store = entries_[i].operation;
    const Address end = address + static_cast<Address>(bytes);
    const Address store_end = store.address + store.bytes;
    if (store.address >= end || address >= store_end) continue;
    if (store.address > address || store_end < end) return {.wait = true, .value = {}};
    const Value shifted = store.operand >> (8 * (address - store.address));
    const Value mask = bytes == 8 ? ~Value{0} : (Value{1} << (8 * bytes)) - 1;
    return {.wait = false, .value = shifted & mask};
  }
  return {};
}

}  // namespace linebounce
