#include "workloads/lua/lua_lock.hpp"

#include <fmt/format.h>

#include "workloads/lua/cpu_functions.hpp"
#include "workloads/lua/declaration.hpp"
#include "workloads/lua/setup_context.hpp"

namespace linebounce::workloads {

LuaLock::LuaLock(std::string name, const LockPlace& place, std::shared_ptr<void> owner)
    : name_(std::move(name)),
      waits_in_(place.waits_in),
      sides_(static_cast<std::size_t>(place.per_cpu.cpus())),
      owner_(std::move(owner)) {}

void LuaLock::join(Interpreter& lua, int functions, int instance) {
  lua_State* state = lua.state();
  Side side{.lua = &lua};
  for (std::size_t method = 0; method < kMethods.size(); ++method) {
    lua_getfield(state, functions, kMethods[method]);
    side.functions[method] = luaL_ref(state, LUA_REGISTRYINDEX);  // LUA_REFNIL of nil
  }
  lua_pushvalue(state, instance);
  side.instance = luaL_ref(state, LUA_REGISTRYINDEX);
  sides_[static_cast<std::size_t>(*lua.cpu_number())] = side;
}

bool LuaLock::acquire_shared(Cpu& cpu) {
  return has(cpu, Method::acquire_shared) ? wait(cpu, Method::acquire_shared) : acquire(cpu);
}

bool LuaLock::release_shared(Cpu& cpu) {
  if (has(cpu, Method::release_shared)) return call(cpu, Method::release_shared, true);
  release(cpu);
  return true;
}

bool LuaLock::wait(Cpu& cpu, Method method) {
  Interpreter& lua = *side(cpu).lua;
  const WaitsIn* const before = lua.waits_in;
  lua.waits_in = &waits_in_;
  const bool waited = call(cpu, method);
  lua.waits_in = before;
  return waited;
}

bool LuaLock::call(Cpu& cpu, Method method, bool otherwise) {
  const Side& here = side(cpu);
  Interpreter& lua = *here.lua;
  lua_State* state = lua.state();
  lua.bind(cpu);
  const auto which = static_cast<std::size_t>(method);
  if (here.functions[which] == LUA_REFNIL)
    lua.fail(fmt::format("lock {} has no {}, which is needed here", name_, kMethods[which]));
  lua_rawgeti(state, LUA_REGISTRYINDEX, here.functions[which]);
  push_cpu(lua);
  lua_rawgeti(state, LUA_REGISTRYINDEX, here.instance);
  lua.call(2, 1);
  const bool says = lua_isboolean(state, -1);
  if (method != Method::release && !says && !(method == Method::release_shared && lua_isnil(state, -1)))
    lua.fail(fmt::format("{} must return true or false, and returned {} (docs/programs.md says what they mean)",
                         kMethods[which], lua_isnil(state, -1) ? "nothing" : luaL_typename(state, -1)));
  const bool result = says ? lua_toboolean(state, -1) != 0 : otherwise;
  lua_pop(state, 1);
  return result;
}

namespace {

// The interpreters of a lock's file, one a CPU: all locks of the file share them.
class LockFile {
 public:
  explicit LockFile(SourceFile file) : file_(std::move(file)) {}

  static std::unique_ptr<Lock> create(const std::shared_ptr<LockFile>& self, const LockPlace& place) {
    auto lock = std::make_unique<LuaLock>(place.name, place, self);
    self->start(place);
    SetupContext context(place.memory, place.per_cpu, self->handles_, nullptr, &place);
    for (const auto& lua : self->interpreters_) {
      set_up(*lua, context);
      lua_pushglobaltable(lua->state());
      lua_insert(lua->state(), -2);
      lock->join(*lua, lua_gettop(lua->state()) - 1, lua_gettop(lua->state()));
      lua_pop(lua->state(), 2);
      context.begin_again();
    }
    return lock;
  }

 private:
  void start(const LockPlace& place) {
    if (!interpreters_.empty()) return;
    for (int cpu = 0; cpu < place.per_cpu.cpus(); ++cpu) {
      interpreters_.push_back(std::make_unique<Interpreter>(file_, cpu));
      Interpreter& lua = *interpreters_.back();
      lua.set_memory(place.memory);
      lua.handles = &handles_;
      set_machine(lua, place.memory.line_bytes(), place.per_cpu.places(), place.per_cpu.cpus());
      lua.load();
    }
  }

  // Pushes what setup() returns: what the lock's functions get.
  static void set_up(Interpreter& lua, SetupContext& context) {
    lua.setup = &context;
    if (lua.push_function("setup")) {
      lua_pushstring(lua.state(), context.lock->name.c_str());
      lua.call(1, 1);
    } else {
      lua_pushnil(lua.state());
    }
    lua.setup = nullptr;
    name_functions(lua, context.memory);
  }

  SourceFile file_;
  LuaHandles handles_;
  std::vector<std::unique_ptr<Interpreter>> interpreters_;  // by CPU
};

}  // namespace

LockEntry lock_entry_of(const SourceFile& file) {
  const LuaDeclaration declared = declaration_of(file);
  if (!declared.lock) throw LuaError(file.name() + " is no lock: it defines no functions acquire and release");
  // All locks of a run share the interpreters, which end with the last of them.
  auto latest = std::make_shared<std::weak_ptr<LockFile>>();
  return {file.path, declared.title, *declared.lock, [file, latest](const LockPlace& place) {
            std::shared_ptr<LockFile> shared = latest->lock();
            if (!shared) *latest = shared = std::make_shared<LockFile>(file);
            return LockFile::create(shared, place);
          }};
}

LockEntry own_lock_entry(Interpreter& lua, int index, std::vector<LuaLock*>& made) {
  const LockTraits traits = read_own_traits(lua, index);
  return {"(the program's own)", "", traits, [&made](const LockPlace& place) {
            auto lock = std::make_unique<LuaLock>(place.name, place, nullptr);
            made.push_back(lock.get());
            return lock;
          }};
}

}  // namespace linebounce::workloads
