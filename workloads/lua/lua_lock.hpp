// A lock whose algorithm is Lua: of a file that defines acquire() and release(), or of a table with them in a program.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "workloads/locks/lock_registry.hpp"
#include "workloads/locks/locks.hpp"
#include "workloads/lua/lua_object.hpp"

namespace linebounce::workloads {

class LuaLock final : public Lock {
 public:
  // `file`: keeps the interpreters of a file alive; null: of a program.
  LuaLock(const LockPlace& place, std::shared_ptr<LuaObjectFile> file);

  LuaObject& object() { return object_; }

  bool acquire(Cpu& cpu) override { return wait(cpu, Method::acquire); }
  bool try_acquire(Cpu& cpu) override { return object_.ask(cpu, index(Method::try_acquire)); }
  void release(Cpu& cpu) override { object_.ask(cpu, index(Method::release), true); }
  bool acquire_shared(Cpu& cpu) override;
  bool release_shared(Cpu& cpu) override;

 private:
  enum class Method : std::uint8_t { acquire, release, try_acquire, acquire_shared, release_shared };
  static constexpr std::array<const char*, 5> kMethods = {"acquire", "release", "try_acquire", "acquire_shared",
                                                          "release_shared"};
  static std::size_t index(Method method) { return static_cast<std::size_t>(method); }
  bool wait(Cpu& cpu, Method method);

  LuaObject object_;
  WaitsIn waits_in_;
  std::shared_ptr<LuaObjectFile> file_;
};

// A lock of a table in a program. The factory appends what it makes to `made`, which every CPU's interpreter then joins.
LockEntry own_lock_entry(Interpreter& lua, int index, std::vector<LuaLock*>& made);

}  // namespace linebounce::workloads
