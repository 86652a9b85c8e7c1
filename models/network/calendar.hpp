// A calendar queue: a priority queue whose cost does not grow with the number of items. Items leave in the order of their
// operator>, which compares the time `at` first. Items with near times lie in a ring of time slots, each so short that few
// items share it. Items with far times stay in a heap until the ring reaches them.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "models/units.hpp"

namespace linebounce {

template <class Item>
class Calendar {
 public:
  static constexpr std::int64_t kSlots = 512;

  // `slot`: the length of a slot in ticks, rounded down to a power of two.
  explicit Calendar(Tick slot) : shift_(static_cast<int>(std::bit_width(static_cast<std::uint64_t>(slot < 1 ? 1 : slot))) - 1) {
    heads_.fill(kNone);
  }

  [[nodiscard]] bool empty() const { return near_ == 0 && far_.empty(); }

  // The earliest item's time. REQUIRES: !empty().
  [[nodiscard]] Tick next() const { return near_ > 0 ? nodes_[heads_[ring(first_)]].item.at : far_.top().at; }

  // REQUIRES: item.at is not before the time of the item popped last.
  void push(const Item& item) {
    if (slot_of(item) < last_ + kSlots) {
      push_near(item);
    } else {
      far_.push(item);
    }
  }

  // Removes and returns the earliest item. REQUIRES: !empty().
  Item pop() {
    const Item item = near_ > 0 ? take_near() : take_far();
    last_ = slot_of(item);
    while (!far_.empty() && slot_of(far_.top()) < last_ + kSlots) push_near(take_far());
    return item;
  }

  // Every item, in no particular order.
  [[nodiscard]] std::vector<Item> items() const {
    std::vector<Item> found;
    for (std::uint32_t node : heads_) {
      for (; node != kNone; node = nodes_[node].next) found.push_back(nodes_[node].item);
    }
    for (auto rest = far_; !rest.empty(); rest.pop()) found.push_back(rest.top());
    return found;
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  static constexpr std::size_t kWords = kSlots / 64;
  struct Node {
    Item item;
    std::uint32_t next;
  };

  [[nodiscard]] std::int64_t slot_of(const Item& item) const { return item.at >> shift_; }
  static std::size_t ring(std::int64_t slot) { return static_cast<std::size_t>(slot) % kSlots; }

  void push_near(const Item& item) {
    const std::int64_t slot = slot_of(item);
    const std::uint32_t node = new_node(item);
    const std::size_t place = ring(slot);
    std::uint32_t* before = &heads_[place];
    while (*before != kNone && item > nodes_[*before].item) before = &nodes_[*before].next;
    nodes_[node].next = *before;
    *before = node;
    filled_[place / 64] |= std::uint64_t{1} << place % 64;
    if (near_++ == 0 || slot < first_) first_ = slot;
  }

  Item take_near() {
    const std::size_t place = ring(first_);
    const std::uint32_t node = heads_[place];
    const Item item = nodes_[node].item;
    heads_[place] = nodes_[node].next;
    nodes_[node].next = free_;
    free_ = node;
    if (--near_ > 0 && heads_[place] == kNone) find_first(place);
    if (heads_[place] == kNone) filled_[place / 64] &= ~(std::uint64_t{1} << place % 64);
    return item;
  }

  Item take_far() {
    const Item item = far_.top();
    far_.pop();
    return item;
  }

  std::uint32_t new_node(const Item& item) {
    if (free_ == kNone) {
      nodes_.push_back({item, kNone});
      return static_cast<std::uint32_t>(nodes_.size() - 1);
    }
    const std::uint32_t node = free_;
    free_ = nodes_[node].next;
    nodes_[node].item = item;
    return node;
  }

  // Sets first_ to the next slot with an item. REQUIRES: first_, at index `place` of the ring, is empty; a later slot is not.
  void find_first(std::size_t place) {
    std::size_t word = place / 64;
    std::uint64_t filled = filled_[word] & ~std::uint64_t{1} << place % 64;  // slots after `place`
    while (filled == 0) {
      word = (word + 1) % kWords;
      filled = filled_[word];
    }
    first_ += static_cast<std::int64_t>(
        ring(static_cast<std::int64_t>(word * 64) + std::countr_zero(filled) - static_cast<std::int64_t>(place)));
  }

  int shift_;
  std::array<std::uint32_t, kSlots> heads_;     // index of the first node in each slot's sorted list
  std::array<std::uint64_t, kWords> filled_{};  // one bit for each slot, set if the slot has items
  std::vector<Node> nodes_;
  std::uint32_t free_ = kNone;  // index of the first node in the list of unused nodes
  std::int64_t near_ = 0;       // the number of items in the ring
  std::int64_t last_ = 0;       // the slot of the item popped last
  std::int64_t first_ = 0;      // the first slot with an item, if near_ > 0
  std::priority_queue<Item, std::vector<Item>, std::greater<>> far_;
};

}  // namespace linebounce
