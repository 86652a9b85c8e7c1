// What one interpreter may allocate. All of it goes at once with this object, so that an interpreter is never closed: closing
// runs what a program left open, and a program may stand anywhere when the measured time ends.
#pragma once

#include <cstddef>
#include <memory_resource>

namespace linebounce::workloads {

class Interpreter;

class LuaMemory {
 public:
  explicit LuaMemory(const Interpreter& owner) : owner_(owner) {}
  static constexpr std::size_t kLimit = std::size_t{64} << 20;  // bytes

  // A lua_Alloc. Errors: LuaError, beyond kLimit, garbage included.
  static void* allocate(void* memory, void* block, std::size_t old_size, std::size_t size);

 private:
  void* grow(void* block, std::size_t old_size, std::size_t size);
  void* copied(const void* block, std::size_t old_size, std::size_t size);

  const Interpreter& owner_;
  std::pmr::unsynchronized_pool_resource pool_;
  std::size_t used_ = 0;
};

}  // namespace linebounce::workloads
