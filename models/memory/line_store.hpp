// Stores every line ever accessed: memory's data, and the version of the latest store to the line by any CPU. Each cached copy
// has the version of its data, which is how the model catches stale values. The store is functional only: it has no timing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "models/units.hpp"

namespace linebounce {

using Slot = std::uint32_t;  // a line's index in the store; it never changes
constexpr Slot kNoSlot = 0xFFFFFFFF;
using Version = std::uint32_t;  // counts the stores to a line

// Copies a line. For the common sizes the compiler knows the size and needs no call.
inline void copy_line(std::byte* to, const std::byte* from, std::size_t bytes) {
  switch (bytes) {
    case 32: std::memcpy(to, from, 32); break;
    case 64: std::memcpy(to, from, 64); break;
    default: std::memcpy(to, from, bytes);
  }
}

class LineStore {
 public:
  // A store for `agents` caches, which are numbered from 0.
  explicit LineStore(int line_bytes, int agents = 64);

  [[nodiscard]] int line_bytes() const { return line_bytes_; }
  [[nodiscard]] LineAddr line_of(Address address) const { return LineAddr(address >> line_shift_); }
  [[nodiscard]] Address offset_of(Address address) const { return address & (static_cast<Address>(line_bytes_) - 1); }
  [[nodiscard]] Address address_of(LineAddr line) const { return line.value << line_shift_; }

  // Returns the line's slot. A new line is zero-filled at version 0, and may allocate memory.
  Slot slot(LineAddr line);

  // The line's slot; kNoSlot if slot() was never called for it.
  [[nodiscard]] Slot known_slot(LineAddr line) const {
    const std::size_t mask = buckets_.size() - 1;
    for (std::size_t i = bucket(line.value); buckets_[i] != 0; i = (i + 1) & mask) {
      const Slot slot = buckets_[i] - 1;
      if (lines_[slot] == line.value) return slot;
    }
    return kNoSlot;
  }

  [[nodiscard]] LineAddr line(Slot slot) const { return LineAddr(lines_[slot]); }
  [[nodiscard]] Version latest(Slot slot) const { return latest_[slot]; }
  Version next_version(Slot slot) { return ++latest_[slot]; }

  [[nodiscard]] Version memory_version(Slot slot) const { return memory_version_[slot]; }
  void write_memory(Slot slot, const std::byte* data, Version version) {
    copy_line(memory_data(slot), data, line_bytes_);
    memory_version_[slot] = version;
  }
  [[nodiscard]] std::byte* memory_data(Slot slot) { return &data_[static_cast<std::size_t>(slot) << line_shift_]; }

  // The agents that have a copy of the line in any state: bit n is agent n. This saves the bus a search of all caches.
  [[nodiscard]] std::uint64_t holders(Slot slot) const { return holders_[slot]; }  // REQUIRES: at most 64 agents
  // The holders among `count` agents from `first` on: bit n is agent `first` + n. REQUIRES: 1 <= count <= 64.
  [[nodiscard]] std::uint64_t holders(Slot slot, int first, int count) const {
    const std::uint64_t* words = &holders_[slot * holder_words_];
    const auto word = static_cast<std::size_t>(first) / kWordBits;
    const int shift = first % kWordBits;
    std::uint64_t found = words[word] >> shift;
    if (shift > 0 && word + 1 < holder_words_) found |= words[word + 1] << (kWordBits - shift);
    return found & ~std::uint64_t{0} >> (kWordBits - count);
  }
  [[nodiscard]] bool is_holder(Slot slot, int agent) const {
    return (holders_[slot * holder_words_ + static_cast<std::size_t>(agent) / kWordBits] >> agent % kWordBits & 1) != 0;
  }
  void add_holder(Slot slot, int agent) { holder_word(slot, agent) |= std::uint64_t{1} << agent % kWordBits; }
  void remove_holder(Slot slot, int agent) { holder_word(slot, agent) &= ~(std::uint64_t{1} << agent % kWordBits); }

  // Writes memory before the simulation starts. REQUIRES: no cache holds the line; the word does not cross a line boundary.
  void preset(Address address, int bytes, Value value);

 private:
  static constexpr int kWordBits = 64;
  [[nodiscard]] std::uint64_t& holder_word(Slot slot, int agent) {
    return holders_[slot * holder_words_ + static_cast<std::size_t>(agent) / kWordBits];
  }
  [[nodiscard]] std::size_t bucket(std::uint64_t line) const { return (line * 0x9E3779B97F4A7C15ULL) >> bucket_shift_; }
  void grow();

  int line_bytes_;
  int line_shift_;
  std::size_t holder_words_;  // the number of words in holders_ for each slot
  int bucket_shift_;
  std::vector<Slot> buckets_;  // a hash table from line to slot, with open addressing; an entry is slot + 1, 0 if empty
  std::vector<std::uint64_t> lines_;
  std::vector<Version> latest_;
  std::vector<Version> memory_version_;
  std::vector<std::uint64_t> holders_;
  std::vector<std::byte> data_;
};

// Reads a little-endian word of 1 to 8 bytes, zero-extended. For the common sizes, 8 and 4, the size is a constant, so that the
// compiler copies in one instruction.
inline Value read_word(const std::byte* at, int bytes) {
  Value value = 0;
  switch (bytes) {
    case 8: std::memcpy(&value, at, 8); break;
    case 4: std::memcpy(&value, at, 4); break;
    default: std::memcpy(&value, at, bytes);
  }
  return value;
}
inline void write_word(std::byte* at, int bytes, Value value) {
  switch (bytes) {
    case 8: std::memcpy(at, &value, 8); break;
    case 4: std::memcpy(at, &value, 4); break;
    default: std::memcpy(at, &value, bytes);
  }
}

}  // namespace linebounce
