// The states that a search has found so far, numbered in the order of discovery.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace linebounce::checker {

using StateNumber = std::uint32_t;

// A hash set with open addressing. A key takes 8 to 16 bytes in addition to its own size. The keys are in a deque, because a
// vector would hold all elements twice while it grows. A Key has an array `words` of unsigned integers.
template <class Key>
class StateSet {
 public:
  StateSet() : slots_(kFirstSlots, kEmpty) {}

  [[nodiscard]] std::size_t size() const { return keys_.size(); }
  [[nodiscard]] const Key& operator[](StateNumber number) const { return keys_[number]; }

  // Adds the state with this key if it is new. Returns the state's number, and true if the state is new.
  std::pair<StateNumber, bool> insert(const Key& key) {
    if (keys_.size() * 2 >= slots_.size()) grow();
    std::size_t slot = place(key);
    for (; slots_[slot] != kEmpty; slot = (slot + 1) & (slots_.size() - 1)) {
      if (keys_[slots_[slot]] == key) return {slots_[slot], false};
    }
    slots_[slot] = static_cast<StateNumber>(keys_.size());
    keys_.push_back(key);
    return {slots_[slot], true};
  }

  [[nodiscard]] std::size_t bytes() const { return keys_.size() * sizeof(Key) + slots_.size() * sizeof(StateNumber); }

 private:
  static constexpr StateNumber kEmpty = ~StateNumber{0};
  static constexpr std::size_t kFirstSlots = std::size_t{1} << 12;  // must be a power of two

  [[nodiscard]] std::size_t place(const Key& key) const {
    std::uint64_t hash = 0;
    for (const auto word : key.words) {
      hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
      hash ^= hash >> 32;
    }
    return static_cast<std::size_t>(hash) & (slots_.size() - 1);
  }

  void grow() {
    slots_.assign(slots_.size() * 2, kEmpty);
    for (StateNumber number = 0; number < keys_.size(); ++number) {
      std::size_t slot = place(keys_[number]);
      while (slots_[slot] != kEmpty) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = number;
    }
  }

  std::deque<Key> keys_;
  std::vector<StateNumber> slots_;
};

}  // namespace linebounce::checker
