#include "models/memory/page_frames.hpp"

#include <algorithm>
#include <bit>

#include "models/splitmix64.hpp"

namespace linebounce {
namespace {

// The inverse of an odd number modulo 2^64, by Newton's iteration. The number itself is right in its lowest three bits, and
// each step doubles them.
std::uint64_t inverse_of(std::uint64_t factor) {
  std::uint64_t inverse = factor;
  for (int bits = 3; bits < 64; bits *= 2) inverse *= 2 - factor * inverse;
  return inverse;
}

}  // namespace

PageFrames::Permutation::Permutation(std::uint64_t seed, int bits)
    : mask_((std::uint64_t{1} << bits) - 1), shift_((bits + 1) / 2) {
  for (Round& round : rounds_) {
    round.sum = mix_bits(seed += kSplitmixStep);
    round.factor = mix_bits(seed += kSplitmixStep) | 1;
    round.inverse = inverse_of(round.factor);
  }
}

// Each product carries every bit upward, and each shift carries the upper half of the bits down.
std::uint64_t PageFrames::Permutation::of(std::uint64_t number) const {
  for (const Round& round : rounds_) {
    number = (number + round.sum) * round.factor & mask_;
    number ^= number >> shift_;
  }
  return number;
}

std::uint64_t PageFrames::Permutation::inverse(std::uint64_t number) const {
  for (auto round = rounds_.rbegin(); round != rounds_.rend(); ++round) {
    number ^= number >> shift_;  // undoes itself, because the shift is at least half of the bits
    number = (number * round->inverse - round->sum) & mask_;
  }
  return number;
}

Address PageFrames::draw(Address begin, Address end, int page_bits) {
  const Address bytes = std::max(std::bit_ceil(end - begin), kMemory);
  const std::uint64_t seed = mix_bits(seed_ + (ranges_.size() + 1) * kSplitmixStep);
  ranges_.push_back({begin, bytes, page_bits, Permutation(seed, std::countr_zero(bytes) - page_bits)});
  return begin + bytes;
}

const PageFrames::Range* PageFrames::range_of(Address address) const {
  for (const Range& range : ranges_) {
    if (address - range.begin < range.bytes) return &range;
  }
  return nullptr;
}

int PageFrames::page_bytes(Address address) const {
  const Range* const range = range_of(address);
  return range == nullptr ? 0 : 1 << range->page_bits;
}

Address PageFrames::to_physical(Address address) const {
  const Range* const range = range_of(address);
  if (range == nullptr) return address;
  const Address page = (address - range->begin) >> range->page_bits;
  return address + ((range->frames.of(page) - page) << range->page_bits);
}

Address PageFrames::to_virtual(Address address) const {
  const Range* const range = range_of(address);
  if (range == nullptr) return address;
  const Address frame = (address - range->begin) >> range->page_bits;
  return address + ((range->frames.inverse(frame) - frame) << range->page_bits);
}

}  // namespace linebounce
