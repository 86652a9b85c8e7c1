// The memory of one interpreter, with a limit. The destructor frees all of it at once, so that no interpreter needs
// lua_close(). That function would run the program's Lua code for closing variables, wherever the program is when the measured
// time ends.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <vector>

namespace linebounce::workloads {

class Interpreter;

// What look-ups in a program's tables cost beyond their instruction.
//
// Lua keeps a table's keys that are no list in a hash part: an array of nodes whose size is a power of two. Keys that fall on
// one node form a chain, and a look-up walks it. Programs can choose numbers that all fall on one node. An instruction then
// takes as long as a million others, and one that makes the table grow, which enters all keys anew, takes minutes.
//
// Lua's interface shows no chains, so this class reads the nodes in the interpreter's memory. It takes samples, at places that
// depend on nothing but the number of nodes: the same program is charged the same on every computer.
class HashParts {
 public:
  // Notes a new block that Lua allocated for an array. Returns the steps that entering the known tables' keys into it would
  // take, beyond one step for each key; 0 if it is no hash part, or a small one.
  std::int64_t allocated(const std::byte* block, std::size_t bytes);
  void freed(const std::byte* block, std::size_t bytes);
  // Looks at some of the nodes, and returns the length of the longest chain seen since the last hash part was freed.
  std::int64_t longest_chain();

 private:
  struct Part {
    const std::byte* nodes;
    std::uint64_t size;  // the number of nodes
  };
  // The place of a node among those of all parts.
  struct Place {
    const Part* part;
    std::uint64_t node;
  };
  [[nodiscard]] Place next_place();

  std::vector<Part> parts_;
  std::uint64_t nodes_ = 0;  // in all parts
  std::uint64_t samples_ = 0;
  std::int64_t longest_ = 0;
};

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
