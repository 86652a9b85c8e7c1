// A lock whose algorithm is Lua: of a file that defines acquire() and release(), or of a table with them in a program.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "workloads/locks/lock_registry.hpp"
#include "workloads/locks/locks.hpp"
#include "workloads/lua/interpreter.hpp"
#include "workloads/program/source_file.hpp"

namespace linebounce::workloads {

class LuaLock final : public Lock {
 public:
  // `owner`: keeps the interpreters of a file alive.
  LuaLock(std::string name, const LockPlace& place, std::shared_ptr<void> owner);

  // The interpreter's CPU calls the functions of the table at `functions` of Lua's stack; they get the value at `instance`.
  void join(Interpreter& lua, int functions, int instance);

  bool acquire(Cpu& cpu) override { return wait(cpu, Method::acquire); }
  bool try_acquire(Cpu& cpu) override { return call(cpu, Method::try_acquire); }
  void release(Cpu& cpu) override { call(cpu, Method::release); }
  bool acquire_shared(Cpu& cpu) override;
  bool release_shared(Cpu& cpu) override;

  enum class Method : std::uint8_t { acquire, release, try_acquire, acquire_shared, release_shared };
  static constexpr std::array<const char*, 5> kMethods = {"acquire", "release", "try_acquire", "acquire_shared",
                                                          "release_shared"};

 private:
  struct Side {
    Interpreter* lua = nullptr;
    std::array<int, kMethods.size()> functions{};  // references into Lua's registry
    int instance = LUA_NOREF;
  };

  Side& side(const Cpu& cpu) { return sides_[static_cast<std::size_t>(cpu.id().value)]; }
  [[nodiscard]] bool has(const Cpu& cpu, Method method) {
    return side(cpu).functions[static_cast<std::size_t>(method)] != LUA_REFNIL;
  }
  bool wait(Cpu& cpu, Method method);
  // What the function returns; `otherwise` if it returns nil.
  bool call(Cpu& cpu, Method method, bool otherwise = false);

  std::string name_;
  WaitsIn waits_in_;
  std::vector<Side> sides_;  // by CPU
  std::shared_ptr<void> owner_;
};

// A lock of a table in a program. The factory appends what it makes to `made`, which every CPU's interpreter then joins.
LockEntry own_lock_entry(Interpreter& lua, int index, std::vector<LuaLock*>& made);

}  // namespace linebounce::workloads
