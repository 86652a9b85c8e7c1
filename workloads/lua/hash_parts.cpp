#include "workloads/lua/hash_parts.hpp"

#include <algorithm>
#include <bit>
#include <climits>
#include <cmath>
#include <cstring>
#include <optional>

#include "workloads/lua/lua_api.hpp"

namespace linebounce::workloads {
namespace {

// A node as in Lua 5.4's lobject.h: the value and its type, the key's type, the distance to the chain's next node, the key.
static_assert(LUA_VERSION_NUM == 504, "another version of Lua may lay out a table's nodes differently");
constexpr std::size_t kHashNodeBytes = 24, kTypeOfKey = 9, kNextInChain = 12, kKeyItself = 16;
constexpr std::byte kIntegerKey{LUA_TNUMBER}, kFloatKey{LUA_TNUMBER | 1 << 4};

constexpr std::uint64_t kSmallestPart = 512;     // in nodes; a chain in a smaller part costs little
constexpr std::uint64_t kSmallestGrowth = 8192;  // likewise, when all its keys are entered anew
constexpr int kChainSamples = 16, kGrowthSamples = 4096;
constexpr std::int64_t kEqualByChance = 8;  // as many of kGrowthSamples keys may fall on one node of kSmallestGrowth by chance

template <class Number>
Number bytes_as(const std::byte* at) {
  Number number{};
  std::memcpy(&number, at, sizeof number);
  return number;
}

// The number of nodes in a block of this size; 0 if it can't be a hash part that counts.
std::uint64_t nodes_in(std::size_t bytes) {
  const std::uint64_t nodes = bytes / kHashNodeBytes;
  return bytes % kHashNodeBytes == 0 && nodes >= kSmallestPart && std::has_single_bit(nodes) ? nodes : 0;
}

// Lua's hash of a key that is no integer (l_hashfloat).
std::uint64_t hash_of(double key) {
  int exponent = 0;
  const double scaled = std::frexp(key, &exponent) * -static_cast<double>(INT_MIN);
  if (!(std::abs(scaled) <= -static_cast<double>(INT_MIN))) return 0;  // infinite
  const unsigned sum = static_cast<unsigned>(exponent) + static_cast<unsigned>(static_cast<std::int64_t>(scaled));
  return sum <= static_cast<unsigned>(INT_MAX) ? sum : ~sum;
}

// The hash of a node's key; empty unless it is a number. Texts are hashed with a seed that programs don't know.
std::optional<std::uint64_t> hash_in(const std::byte* node) {
  if (node[kTypeOfKey] == kIntegerKey) return bytes_as<std::uint64_t>(node + kKeyItself);
  if (node[kTypeOfKey] == kFloatKey) return hash_of(bytes_as<double>(node + kKeyItself));
  return {};
}

// The most elements that are equal.
std::int64_t most_equal(std::vector<std::uint64_t>& elements) {
  std::sort(elements.begin(), elements.end());
  std::int64_t most = 0;
  for (auto first = elements.begin(); first != elements.end();) {
    const auto last = std::find_if(first, elements.end(), [first](std::uint64_t other) { return other != *first; });
    most = std::max<std::int64_t>(most, last - first);
    first = last;
  }
  return most;
}

}  // namespace

// Multiples of the golden ratio are spread evenly.
HashParts::Place HashParts::next_place() {
  constexpr std::uint64_t kGoldenRatio = 0x9E3779B9;  // of 2^32
  constexpr std::uint64_t kWord = 0xFFFFFFFF;
  std::uint64_t node = (++samples_ * kGoldenRatio & kWord) * nodes_ >> 32;
  auto part = parts_.begin();
  for (; node >= part->size; ++part) node -= part->size;
  return {&*part, node};
}

std::int64_t HashParts::allocated(const std::byte* block, std::size_t bytes) {
  const std::uint64_t size = nodes_in(bytes);
  if (size == 0) return 0;
  std::vector<std::uint64_t> fallen;  // the nodes where sampled keys fall
  if (size >= kSmallestGrowth && nodes_ > 0) {
    for (int i = 0; i < kGrowthSamples; ++i) {
      const Place place = next_place();
      const std::optional<std::uint64_t> hash = hash_in(place.part->nodes + place.node * kHashNodeBytes);
      if (hash) fallen.push_back(*hash % (size - 1));
    }
  }
  const auto old_nodes = static_cast<std::int64_t>(nodes_);
  parts_.push_back({block, size});
  nodes_ += size;
  const std::int64_t equal = most_equal(fallen);
  if (equal <= kEqualByChance) return 0;
  const std::int64_t chain = std::min(equal * old_nodes / kGrowthSamples, static_cast<std::int64_t>(size));
  return chain * chain / 2;
}

void HashParts::freed(const std::byte* block, std::size_t bytes) {
  if (nodes_in(bytes) == 0) return;
  const auto part = std::find_if(parts_.begin(), parts_.end(), [block](const Part& known) { return known.nodes == block; });
  if (part == parts_.end()) return;
  nodes_ -= part->size;
  *part = parts_.back();
  parts_.pop_back();
  longest_ = 0;
}

std::int64_t HashParts::longest_chain() {
  if (parts_.empty()) return 0;
  for (int i = 0; i < kChainSamples; ++i) {
    const Place place = next_place();
    std::int64_t steps = 0, next = 0;
    std::uint64_t node = place.node;
    do {
      next = bytes_as<int>(place.part->nodes + node * kHashNodeBytes + kNextInChain);
      node += static_cast<std::uint64_t>(next);
      ++steps;
    } while (next != 0 && node < place.part->size && steps < static_cast<std::int64_t>(place.part->size));
    if (next == 0) longest_ = std::max(longest_, steps);  // otherwise the block is an array of something else
  }
  return longest_;
}

}  // namespace linebounce::workloads
