#include "workloads/lua/lua_lock.hpp"

#include <utility>

#include "workloads/lua/declaration.hpp"

namespace linebounce::workloads {

bool LuaLock::acquire_shared(Cpu& cpu) {
  return take(cpu, object_.has(cpu, index(Method::acquire_shared)) ? Method::acquire_shared : Method::acquire);
}

bool LuaLock::release_shared(Cpu& cpu) {
  if (object_.has(cpu, index(Method::release_shared))) return give(cpu, Method::release_shared);
  release(cpu);
  return true;
}

// Calls the lock's function. If the function has slept, wakes the CPU again afterwards: a wake-up that ended the sleep may
// have been meant for the program.
bool LuaLock::call(Cpu& cpu, Method method, const WaitsIn* waits_in, std::optional<bool> nothing) {
  Interpreter& lua = object_.interpreter(cpu);
  Interpreter::LockCall here{waits_in};
  Interpreter::LockCall* const outer = std::exchange(lua.lock_call, &here);
  const bool answer = object_.ask(cpu, index(method), nothing);
  lua.lock_call = outer;
  if (here.caller) cpu.leave_function(*here.caller);
  if (here.slept) cpu.wake(cpu.id());
  return answer;
}

namespace {

LockEntry lock_entry(const SourceFile& file, const LuaDeclaration& declared) {
  const auto create = [file, sleeps = declared.lock->sleeps](const LockPlace& place) {
    LuaObjectFile& shared = LuaObjectFile::of(file, sleeps, place.per_cpu);
    auto lock = std::make_unique<LuaLock>(place, &shared);
    shared.set_up(lock->object(), {place.name, place.word, place.word_bytes}, place.memory, place.per_cpu, nullptr);
    return lock;
  };
  return {file.path, declared.title, *declared.lock, create, file.path};
}

}  // namespace

LockEntry lock_entry_of(const SourceFile& file) {
  const LuaDeclaration declared = declaration_of(file);
  if (!declared.lock) throw LuaError(file.name() + " is not a lock: it defines no functions acquire and release");
  return lock_entry(file, declared);
}

std::vector<LockEntry> locks_in_lua() {
  const std::vector<SourceFile> files = lua_lock_files();
  const std::vector<LuaDeclaration> declared = read_heads(files);
  std::vector<LockEntry> locks;
  for (std::size_t i = 0; i < files.size(); ++i) {
    locks.push_back(lock_entry(files[i], declared[i]));
    const std::string name = files[i].name();
    locks.back().name = name.substr(0, name.rfind('.'));
  }
  return locks;
}

LockEntry own_lock_entry(Interpreter& lua, int index, std::vector<LuaLock*>& made) {
  const LockTraits traits = read_own_traits(lua, index);
  return {"(the program's own)", "", traits,
          [&made](const LockPlace& place) {
            auto lock = std::make_unique<LuaLock>(place);
            made.push_back(lock.get());
            return lock;
          },
          ""};
}

}  // namespace linebounce::workloads
