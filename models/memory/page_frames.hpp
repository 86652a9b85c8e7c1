// The page frames of a replayed program. A recording knows its pages' virtual addresses, but not their frames, so each page
// gets a random frame. Objects are placed at virtual addresses; caches and memory see physical ones.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/units.hpp"

namespace linebounce {

class PageFrames {
 public:
  // Without any range, every address is physical.
  PageFrames() = default;
  // Equal seeds draw equal frames for equal ranges.
  explicit PageFrames(std::uint64_t seed) : seed_(seed) {}

  // The least memory, in bytes, from which a range's frames are drawn. The sets of every cache fit into it many times, so that
  // each of its sets is equally likely.
  static constexpr Address kMemory = Address{1} << 33;

  // Draws frames of 2^`page_bits` bytes for the virtual addresses from `begin` to `end`. Returns the end of the memory that
  // they are drawn from, which also begins at `begin`. A page's frame follows from its distance to `begin`, so that ranges of
  // different lengths up to kMemory have the same frames. REQUIRES: `begin` is a multiple of kMemory, and at least what the
  // previous call returned.
  Address draw(Address begin, Address end, int page_bits);

  // Addresses outside all ranges stay as they are.
  [[nodiscard]] Address to_physical(Address address) const;
  [[nodiscard]] Address to_virtual(Address address) const;
  [[nodiscard]] bool empty() const { return ranges_.empty(); }
  // The size of the page of a virtual address; 0 outside all ranges.
  [[nodiscard]] int page_bytes(Address address) const;

 private:
  // A permutation of the numbers below 2^bits that looks random.
  class Permutation {
   public:
    Permutation(std::uint64_t seed, int bits);
    [[nodiscard]] std::uint64_t of(std::uint64_t number) const;
    [[nodiscard]] std::uint64_t inverse(std::uint64_t number) const;

   private:
    struct Round {
      std::uint64_t sum = 0, factor = 1, inverse = 1;
    };
    std::uint64_t mask_;
    int shift_;
    std::array<Round, 3> rounds_;
  };
  struct Range {
    Address begin, bytes;
    int page_bits;
    Permutation frames;  // by the page's number in the range
  };
  [[nodiscard]] const Range* range_of(Address address) const;

  std::uint64_t seed_ = 0;
  std::vector<Range> ranges_;  // by address
};

}  // namespace linebounce
