// The memory of one interpreter, with a limit. The destructor frees all of it at once, so that no interpreter needs
// lua_close(). That function would run the program's Lua code for closing variables, wherever the program is when the measured
// time ends.
#pragma once

#include <cstddef>
#include <memory_resource>

namespace linebounce::workloads {

class Interpreter;

class LuaMemory {
 public:
  explicit LuaMemory(const Interpreter& owner) : owner_(owner) {}
  static constexpr std::size_t kLimit = std::size_t{64} << 20;  // bytes

  // Lua's allocation function (lua_Alloc). Errors: LuaError, if blocks, with garbage that is not yet collected, exceed kLimit.
  static void* allocate(void* memory, void* block, std::size_t old_size, std::size_t size);

 private:
  void* grow(void* block, std::size_t old_size, std::size_t size);
  void* copied(const void* block, std::size_t old_size, std::size_t size);

  const Interpreter& owner_;
  std::pmr::unsynchronized_pool_resource pool_;
  std::size_t used_ = 0;
};

}  // namespace linebounce::workloads
