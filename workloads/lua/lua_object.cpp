#include "workloads/lua/lua_object.hpp"

#include <fmt/format.h>

#include "workloads/lua/cpu_functions.hpp"

namespace linebounce::workloads {

LuaObject::LuaObject(std::string what, std::string name, std::span<const char* const> functions, int cpus)
    : what_(std::move(what)), name_(std::move(name)), functions_(functions), sides_(static_cast<std::size_t>(cpus)) {}

void LuaObject::join(Interpreter& lua, int functions, int instance) {
  lua_State* state = lua.state();
  Side side{.lua = &lua, .functions = {}};
  for (const char* function : functions_) {
    lua_getfield(state, functions, function);
    side.functions.push_back(luaL_ref(state, LUA_REGISTRYINDEX));  // LUA_REFNIL of nil
  }
  lua_pushvalue(state, instance);
  side.instance = luaL_ref(state, LUA_REGISTRYINDEX);
  sides_[static_cast<std::size_t>(*lua.cpu_number())] = side;
}

bool LuaObject::has(const Cpu& cpu, std::size_t function) const {
  return side(cpu).functions[function] != LUA_REFNIL;
}

void LuaObject::call(Cpu& cpu, std::size_t function, std::optional<std::int64_t> argument) {
  const Side& here = side(cpu);
  Interpreter& lua = *here.lua;
  lua_State* state = lua.state();
  lua.bind(cpu);
  if (!has(cpu, function)) lua.fail(fmt::format("{} {} has no {}, which is needed here", what_, name_, functions_[function]));
  lua_rawgeti(state, LUA_REGISTRYINDEX, here.functions[function]);
  push_cpu(lua);
  lua_rawgeti(state, LUA_REGISTRYINDEX, here.instance);
  if (argument) lua_pushinteger(state, static_cast<lua_Integer>(*argument));
  lua.call(argument ? 3 : 2, 1);
}

bool LuaObject::ask(Cpu& cpu, std::size_t function, std::optional<bool> otherwise) {
  call(cpu, function);
  const Interpreter& lua = interpreter(cpu);
  lua_State* state = lua.state();
  const bool nothing = lua_isnil(state, -1);
  if (!lua_isboolean(state, -1) && !(nothing && otherwise))
    lua.fail(fmt::format("{} must return true or false, and returned {} (docs/programs.md says what they mean)",
                         functions_[function], nothing ? "nothing" : luaL_typename(state, -1)));
  const bool answer = nothing ? *otherwise : lua_toboolean(state, -1) != 0;
  lua_pop(state, 1);
  return answer;
}

void LuaObjectFile::start(AddressSpace& memory, CpuObjects& per_cpu) {
  if (!interpreters_.empty()) return;
  if (sleeps_) handles_.sleepers.emplace(per_cpu);
  for (int cpu = 0; cpu < per_cpu.cpus(); ++cpu) {
    interpreters_.push_back(std::make_unique<Interpreter>(file_, cpu));
    Interpreter& lua = *interpreters_.back();
    lua.set_memory(memory);
    lua.handles = &handles_;
    set_machine(lua, memory.line_bytes(), per_cpu.places(), per_cpu.cpus());
    lua.load();
  }
}

void LuaObjectFile::set_up(LuaObject& object, const OwnWord& own, AddressSpace& memory, CpuObjects& per_cpu, LockSet* locks) {
  start(memory, per_cpu);
  SetupContext context(memory, per_cpu, handles_, locks, &own);
  for (const auto& interpreter : interpreters_) {
    Interpreter& lua = *interpreter;
    lua_State* state = lua.state();
    lua_pushglobaltable(state);
    const int functions = lua_gettop(state);
    lua.setup = &context;
    if (lua.push_function("setup")) {
      lua_pushstring(state, own.name.c_str());
      lua.call(1, 1);
    } else {
      lua_pushnil(state);
    }
    lua.setup = nullptr;
    name_functions(lua, memory);
    object.join(lua, functions, functions + 1);
    lua_settop(state, functions - 1);
    context.begin_again();
  }
}

std::shared_ptr<LuaObjectFile> SharedLuaFile::get() {
  std::shared_ptr<LuaObjectFile> shared = latest_.lock();
  if (!shared) latest_ = shared = std::make_shared<LuaObjectFile>(file_, sleeps_);
  return shared;
}

}  // namespace linebounce::workloads
