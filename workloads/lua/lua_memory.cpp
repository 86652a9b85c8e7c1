#include "workloads/lua/lua_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <utility>

#include "workloads/lua/interpreter.hpp"
#include "workloads/lua/lua_api.hpp"

namespace linebounce::workloads {
namespace {

// Lua's LUAI_MAXALIGN, the alignment of its numbers and pointers. A larger one would be unsafe: libstdc++'s pool aligns blocks
// of 24 bytes only to 8 (its bug 118681), while the compiler assumes the alignment that was requested.
constexpr std::size_t kAlignment = 8;

// How many bytes are written in about the time of an instruction. A text or table that grows is charged at this rate.
constexpr std::size_t kBytesForInstruction = 16;

std::size_t limit_in_mib() {
  const char* text = std::getenv("LINEBOUNCE_LUA_MIB");
  std::size_t mib = 0;
  if (text == nullptr) return LuaMemory::kDefaultMib;
  const auto [end, error] = std::from_chars(text, text + std::strlen(text), mib);
  const bool is_legal = error == std::errc() && *end == '\0' && mib >= 1 && mib <= LuaMemory::kMostMib;
  return is_legal ? mib : LuaMemory::kDefaultMib;
}

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

std::size_t LuaMemory::limit() {
  static const std::size_t bytes = limit_in_mib() << 20;
  return bytes;
}

void* LuaMemory::allocate(void* memory, void* block, std::size_t old_size, std::size_t size) {
  auto& self = *static_cast<LuaMemory*>(memory);
  // For a new block, Lua passes the kind of object here; 0 for an array.
  const bool is_text = block == nullptr && old_size == LUA_TSTRING, is_array = block == nullptr && old_size == 0;
  if (block == nullptr) old_size = 0;
  // Fails instead of returning null, because Lua's own error for null would not name the line of the program.
  if (size > old_size && size - old_size > limit() - self.used_)
    self.owner_.fail(fmt::format(
        "more than {} MiB of memory for one CPU's program; the environment's LINEBOUNCE_LUA_MIB sets another limit, "
        "up to {}",
        limit() >> 20, kMostMib));
  if (size > kLargestSmall) {
    if (is_text) self.owner_.note_text(size);
    self.owner_.charge(static_cast<std::int64_t>(size / kBytesForInstruction));
  }
  void* moved = size > 0 ? self.take(size) : nullptr;
  if (block != nullptr) {
    if (size > 0) std::memcpy(moved, block, std::min(old_size, size));
    self.give_back(block, old_size);
  }
  self.used_ += size - old_size;
  if (is_array && size > kLargestSmall) self.note_array(moved, size);
  return moved;
}

void LuaMemory::note_array(const void* block, std::size_t size) {
  owner_.charge(hash_parts_.allocated(static_cast<const std::byte*>(block), size) / Interpreter::kStepsForInstruction);
}

void* LuaMemory::take(std::size_t size) {
  if (size > kLargestSmall) return large_.allocate(size, kAlignment);
  FreeBlock*& first = free_[list_of(size)];
  if (first == nullptr) return carve((list_of(size) + 1) * kStep);
  return std::exchange(first, first->next);
}

void* LuaMemory::carve(std::size_t size) {
  if (chunk_left_ < size) {
    chunk_ = static_cast<std::byte*>(large_.allocate(kChunk, kAlignment));
    chunk_left_ = kChunk;
  }
  chunk_left_ -= size;
  return std::exchange(chunk_, chunk_ + size);
}

void LuaMemory::give_back(void* block, std::size_t size) {
  if (size > kLargestSmall) {
    hash_parts_.freed(static_cast<const std::byte*>(block), size);
    return large_.deallocate(block, size, kAlignment);
  }
  FreeBlock*& first = free_[list_of(size)];
  first = new (block) FreeBlock{first};
}

}  // namespace linebounce::workloads
