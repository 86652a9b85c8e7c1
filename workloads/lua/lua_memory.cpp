#include "workloads/lua/lua_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "workloads/lua/interpreter.hpp"

namespace linebounce::workloads {
namespace {

// Lua's LUAI_MAXALIGN, the alignment of its numbers and pointers. A larger one would be unsafe: libstdc++'s pool aligns blocks
// of 24 bytes only to 8 (its bug 118681), while the compiler assumes the alignment that was requested.
constexpr std::size_t kAlignment = 8;

}  // namespace

void* LuaMemory::allocate(void* memory, void* block, std::size_t old_size, std::size_t size) {
  auto& self = *static_cast<LuaMemory*>(memory);
  if (block == nullptr) old_size = 0;  // for a new block, Lua passes the kind of object here
  if (size > old_size) return self.grow(block, old_size, size);
  void* smaller = size > 0 ? self.copied(block, old_size, size) : nullptr;
  if (block != nullptr) self.pool_.deallocate(block, old_size, kAlignment);
  self.used_ -= old_size - size;
  return smaller;
}

void* LuaMemory::grow(void* block, std::size_t old_size, std::size_t size) {
  // Fails instead of returning null, because Lua's own error for null would not name the line of the program.
  if (size - old_size > kLimit - used_)
    owner_.fail(fmt::format("more than {} MiB of memory for one CPU's program", kLimit >> 20));
  void* larger = copied(block, old_size, size);
  if (block != nullptr) pool_.deallocate(block, old_size, kAlignment);
  used_ += size - old_size;
  return larger;
}

void* LuaMemory::copied(const void* block, std::size_t old_size, std::size_t size) {
  void* copy = pool_.allocate(size, kAlignment);
  if (block != nullptr) std::memcpy(copy, block, std::min(old_size, size));
  return copy;
}

}  // namespace linebounce::workloads
