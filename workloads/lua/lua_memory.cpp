#include "workloads/lua/lua_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <new>
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

}  // namespace

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
