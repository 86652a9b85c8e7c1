// A calendar queue: a priority queue whose cost hardly grows with the number of items. Items leave in the order of their
// operator>, which compares the time `due` first. Items with near times are in a ring of time slots, each so short that few
// items share it. Items with far times stay in a heap until the ring reaches them.
//
// The calendar links the items through their member `next`. So an item must not move in memory, and can only be in one
// calendar, until it is popped.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <queue>
#include <vector>

#include "models/units.hpp"

namespace linebounce {

template <class Item>
class Calendar {
 public:
  static constexpr int kSlots = 64;  // one bit of filled_ for each

  // `slot`: the length of a slot in ticks, rounded down to a power of two.
  explicit Calendar(Tick slot)
      : shift_(static_cast<int>(std::bit_width(static_cast<std::uint64_t>(slot < 1 ? 1 : slot))) - 1) {}

  // The earliest item's time; kNever if there are no items.
  [[nodiscard]] Tick next() const { return next_; }

  // REQUIRES: item.due is not before the time of the item popped last.
  void push(Item& item) {
    next_ = std::min(next_, item.due);
    if (slot_of(item.due) < end_) {
      push_near(item);
    } else {
      push_far(item);
    }
  }

  // Removes and returns the earliest item. REQUIRES: the calendar is not empty.
  Item& pop() {
    // The ring begins at the slot of the item that is popped.
    const std::int64_t slot = slot_of(next_);
    end_ = slot + kSlots;
    if (far_begin_ < end_) [[unlikely]]
      take_far();
    const std::size_t place = place_of(slot);
    Item& item = *slots_[place];
    slots_[place] = item.next;
    if (item.next != nullptr) {
      next_ = item.next->due;
    } else {
      filled_ &= ~(std::uint64_t{1} << place);
      next_ = filled_ != 0 ? slots_[first_after(place)]->due : far_.empty() ? kNever : far_.top()->due;
    }
    return item;
  }

  // Every item, in no particular order.
  [[nodiscard]] std::vector<const Item*> items() const {
    std::vector<const Item*> found;
    for (const Item* item : slots_) {
      for (; item != nullptr; item = item->next) found.push_back(item);
    }
    for (auto rest = far_; !rest.empty(); rest.pop()) found.push_back(rest.top());
    return found;
  }

 private:
  struct IsLater {
    bool operator()(const Item* a, const Item* b) const { return *a > *b; }
  };

  [[nodiscard]] std::int64_t slot_of(Tick at) const { return at >> shift_; }
  static std::size_t place_of(std::int64_t slot) { return static_cast<std::size_t>(slot) % kSlots; }
  // The place of the first slot with an item, searching round the ring from `place`. REQUIRES: filled_ != 0.
  [[nodiscard]] std::size_t first_after(std::size_t place) const {
    return (place + std::countr_zero(std::rotr(filled_, static_cast<int>(place)))) % kSlots;
  }

  void push_near(Item& item) {
    const std::size_t place = place_of(slot_of(item.due));
    Item** before = &slots_[place];
    while (*before != nullptr && item > **before) before = &(*before)->next;
    item.next = *before;
    *before = &item;
    filled_ |= std::uint64_t{1} << place;
  }

  [[gnu::noinline]] void push_far(Item& item) {
    far_.push(&item);
    far_begin_ = slot_of(far_.top()->due);
  }
  // Moves the items of far_ whose slots the ring now covers into the ring.
  [[gnu::noinline]] void take_far() {
    for (; !far_.empty() && slot_of(far_.top()->due) < end_; far_.pop()) push_near(*far_.top());
    far_begin_ = far_.empty() ? kNever : slot_of(far_.top()->due);
  }

  int shift_;
  std::array<Item*, kSlots> slots_{};  // the first item of each slot's sorted list; slot n lies at place_of(n)
  std::uint64_t filled_ = 0;           // bit n is set if slots_[n] has items
  Tick next_ = kNever;
  std::int64_t end_ = kSlots;        // the first slot after the ring
  std::int64_t far_begin_ = kNever;  // the first slot of an item in far_
  std::priority_queue<Item*, std::vector<Item*>, IsLater> far_;
};

}  // namespace linebounce
