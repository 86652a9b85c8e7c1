#include "workloads/lua/lua_object.hpp"

#include <fmt/format.h>

#include "workloads/lua/cpu_functions.hpp"

namespace linebounce::workloads {

LuaHost::LuaHost(Interpreter& interpreter, int table, std::span<const char* const> names) : lua(&interpreter) {
  for (const char* name : names) {
    lua_getfield(lua->state(), table, name);
    functions.push_back(luaL_ref(lua->state(), LUA_REGISTRYINDEX));  // LUA_REFNIL if the table has no such function
  }
}

LuaObject::LuaObject(const char* what, std::string name, std::span<const char* const> functions, int cpus,
                     std::shared_ptr<LuaHosts> hosts)
    : what_(what), name_(std::move(name)), functions_(functions), hosts_(std::move(hosts)) {
  instances_.resize(static_cast<std::size_t>(cpus), LUA_NOREF);
  if (!hosts_) hosts_ = std::make_shared<LuaHosts>(instances_.size());
}

void LuaObject::join(const Interpreter& lua, int instance) {
  lua_pushvalue(lua.state(), instance);
  instances_[static_cast<std::size_t>(*lua.cpu_number())] = luaL_ref(lua.state(), LUA_REGISTRYINDEX);
}

void LuaObject::call(Cpu& cpu, std::size_t function, std::optional<std::int64_t> argument) {
  const auto number = static_cast<std::size_t>(cpu.id().value);
  if (instances_[number] == LUA_NOREF) [[unlikely]]
    join_(number);
  const LuaHost& here = (*hosts_)[number];
  Interpreter& lua = *here.lua;
  lua_State* state = lua.state();
  lua.bind(cpu);
  const int reference = here.functions[function];
  if (reference == LUA_REFNIL)
    lua.fail(fmt::format("{} {} has no {}, which is needed here", what_, name_, functions_[function]));
  lua_rawgeti(state, LUA_REGISTRYINDEX, reference);
  push_cpu(lua);
  lua_rawgeti(state, LUA_REGISTRYINDEX, instances_[number]);
  if (argument) lua_pushinteger(state, static_cast<lua_Integer>(*argument));
  lua.call(argument ? 3 : 2, 1);
}

bool LuaObject::ask(Cpu& cpu, std::size_t function, std::optional<bool> otherwise) {
  call(cpu, function);
  const Interpreter& lua = interpreter(cpu);
  lua_State* state = lua.state();
  const int type = lua_type(state, -1);
  const bool nothing = type == LUA_TNIL;
  if (type != LUA_TBOOLEAN && !(nothing && otherwise))
    lua.fail(fmt::format("{} must return true or false, and returned {} (docs/programs.md says what they mean)",
                         functions_[function], nothing ? "nothing" : luaL_typename(state, -1)));
  const bool answer = nothing ? *otherwise : lua_toboolean(state, -1) != 0;
  lua_pop(state, 1);
  return answer;
}

void LuaObjectFile::start(const LuaObject& object, AddressSpace& memory, CpuObjects& per_cpu) {
  if (!interpreters_.empty()) return;
  if (sleeps_) handles_.sleepers.emplace(per_cpu);
  std::string compiled;
  for (int cpu = 0; cpu < per_cpu.cpus(); ++cpu) {
    interpreters_.push_back(std::make_unique<Interpreter>(file_, cpu));
    Interpreter& lua = *interpreters_.back();
    lua.set_memory(memory);
    lua.handles = &handles_;
    lua.seed(per_cpu.seed() - 1);  // not the program's own seed, so that both don't draw the same numbers
    lua.draws = per_cpu.draws();
    set_machine(lua, memory.line_bytes(), per_cpu.places(), per_cpu.cpus());
    lua.load(&compiled);
    lua_pushglobaltable(lua.state());
    hosts_->emplace_back(lua, lua_gettop(lua.state()), object.functions());
    lua_pop(lua.state(), 1);
  }
}

void LuaObjectFile::set_up_on(std::size_t cpu, LuaObject& object, SetupContext& context) {
  Interpreter& lua = *interpreters_[cpu];
  lua.setup = &context;
  if (lua.push_function("setup")) {
    lua_pushstring(lua.state(), context.own->name.c_str());
    lua.call(1, 1);
  } else {
    lua_pushnil(lua.state());
  }
  lua.setup = nullptr;
  name_functions(lua, context.memory);
  object.join(lua, lua_gettop(lua.state()));
  lua_pop(lua.state(), 1);
  context.begin_again();
}

void LuaObjectFile::set_up(LuaObject& object, const OwnWord& own, AddressSpace& memory, CpuObjects& per_cpu, LockSet* locks) {
  struct Kept {
    OwnWord own;
    SetupContext context;
  };
  start(object, memory, per_cpu);
  const std::shared_ptr<Kept> kept(new Kept{own, {memory, per_cpu, handles_, locks, nullptr}});
  kept->context.own = &kept->own;
  set_up_on(0, object, kept->context);
  object.joins_by([this, &object, kept](std::size_t cpu) { set_up_on(cpu, object, kept->context); });
}

}  // namespace linebounce::workloads
