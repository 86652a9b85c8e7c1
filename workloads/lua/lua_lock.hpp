// A lock whose algorithm is in Lua: a file that defines acquire() and release(), or a table with these functions in a program.
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
  // `file`: the lock's own file; null for a lock that is a table in a program.
  explicit LuaLock(const LockPlace& place, const LuaObjectFile* file = nullptr)
      : object_("lock", place.name, kMethods, place.per_cpu.cpus(), file == nullptr ? nullptr : file->hosts()),
        waits_in_(place.waits_in) {}

  LuaObject& object() { return object_; }

  bool acquire(Cpu& cpu) override { return take(cpu, Method::acquire); }
  bool try_acquire(Cpu& cpu) override { return take(cpu, Method::try_acquire); }
  void release(Cpu& cpu) override { give(cpu, Method::release); }
  bool acquire_shared(Cpu& cpu) override;
  bool release_shared(Cpu& cpu) override;

 private:
  enum class Method : std::uint8_t { acquire, release, try_acquire, acquire_shared, release_shared };
  static constexpr std::array<const char*, 5> kMethods = {"acquire", "release", "try_acquire", "acquire_shared",
                                                          "release_shared"};
  static std::size_t index(Method method) { return static_cast<std::size_t>(method); }
  bool take(Cpu& cpu, Method method) { return call(cpu, method, &waits_in_, {}); }
  bool give(Cpu& cpu, Method method) { return call(cpu, method, nullptr, true); }
  // `waits_in`: the functions in which reports count waits; null: the running function. `nothing`: the result of this call if
  // the Lua function returns none; empty: the Lua function must return a result.
  bool call(Cpu& cpu, Method method, const WaitsIn* waits_in, std::optional<bool> nothing);

  LuaObject object_;
  WaitsIn waits_in_;
};

// Returns the entry of a lock that is the table at `index` of Lua's stack in a program. The entry's factory appends each lock
// that it creates to `made`, so that every CPU's interpreter can join the lock.
LockEntry own_lock_entry(Interpreter& lua, int index, std::vector<LuaLock*>& made);

}  // namespace linebounce::workloads
