#include "workloads/lua/lua_lock.hpp"

#include "workloads/lua/declaration.hpp"

namespace linebounce::workloads {

LuaLock::LuaLock(const LockPlace& place, std::shared_ptr<LuaObjectFile> file)
    : object_("lock", place.name, kMethods, place.per_cpu.cpus()), waits_in_(place.waits_in), file_(std::move(file)) {}

bool LuaLock::acquire_shared(Cpu& cpu) {
  return object_.has(cpu, index(Method::acquire_shared)) ? wait(cpu, Method::acquire_shared) : acquire(cpu);
}

bool LuaLock::release_shared(Cpu& cpu) {
  if (object_.has(cpu, index(Method::release_shared))) return object_.ask(cpu, index(Method::release_shared), true);
  release(cpu);
  return true;
}

// A wake-up that was meant for the program can't be told from the lock's own: if it slept, it hands one on.
bool LuaLock::wait(Cpu& cpu, Method method) {
  Interpreter& lua = object_.interpreter(cpu);
  const WaitsIn* const before = lua.waits_in;
  lua.waits_in = &waits_in_;
  lua.slept = false;
  const bool waited = object_.ask(cpu, index(method));
  if (lua.slept) cpu.wake(cpu.id());
  lua.waits_in = before;
  return waited;
}

LockEntry lock_entry_of(const SourceFile& file) {
  const LuaDeclaration declared = declaration_of(file);
  if (!declared.lock) throw LuaError(file.name() + " is no lock: it defines no functions acquire and release");
  const auto shared = std::make_shared<SharedLuaFile>(file, declared.lock->sleeps);
  return {file.path, declared.title, *declared.lock, [shared](const LockPlace& place) {
            auto lock = std::make_unique<LuaLock>(place, shared->get());
            const OwnWord own{place.name, place.word, place.word_bytes};
            shared->get()->set_up(lock->object(), own, place.memory, place.per_cpu, nullptr);
            return lock;
          }};
}

LockEntry own_lock_entry(Interpreter& lua, int index, std::vector<LuaLock*>& made) {
  const LockTraits traits = read_own_traits(lua, index);
  return {"(the program's own)", "", traits, [&made](const LockPlace& place) {
            auto lock = std::make_unique<LuaLock>(place, nullptr);
            made.push_back(lock.get());
            return lock;
          }};
}

}  // namespace linebounce::workloads
