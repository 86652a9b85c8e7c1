// The memory of one interpreter, with a limit. The destructor frees all of it at once, so that no interpreter needs
// lua_close(). That function would run the program's Lua code for closing variables, wherever the program is when the measured
// time ends.
#pragma once

#include <array>
#include <cstddef>
#include <memory_resource>

#include "workloads/lua/hash_parts.hpp"

namespace linebounce::workloads {

class Interpreter;

class LuaMemory {
 public:
  explicit LuaMemory(Interpreter& owner) : owner_(owner) {}
  static constexpr std::size_t kDefaultMib = 64, kMostMib = 16384;
  // In bytes: kDefaultMib, or what the environment's LINEBOUNCE_LUA_MIB says when the process first asks.
  static std::size_t limit();

  // Lua's allocation function (lua_Alloc). Errors: LuaError, if blocks, with garbage that is not yet collected, exceed limit().
  static void* allocate(void* memory, void* block, std::size_t old_size, std::size_t size);
  [[nodiscard]] std::size_t used() const { return used_; }
  HashParts& hash_parts() { return hash_parts_; }

 private:
  void* take(std::size_t size);
  void* carve(std::size_t size);
  void give_back(void* block, std::size_t size);
  void note_array(const void* block, std::size_t size);

  // A small block has a multiple of kStep bytes. While it is free, it is in the list of free blocks of its size.
  static constexpr std::size_t kStep = 16, kLargestSmall = 512, kChunk = 16 << 10;  // bytes
  struct FreeBlock {
    FreeBlock* next;
  };
  static std::size_t list_of(std::size_t size) { return (size - 1) / kStep; }

  Interpreter& owner_;
  std::pmr::unsynchronized_pool_resource large_;
  std::array<FreeBlock*, kLargestSmall / kStep> free_ = {};
  std::byte* chunk_ = nullptr;  // the unused rest of the latest chunk, which new small blocks come from
  std::size_t chunk_left_ = 0;
  std::size_t used_ = 0;
  HashParts hash_parts_;
};

}  // namespace linebounce::workloads
