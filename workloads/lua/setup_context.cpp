#include "workloads/lua/setup_context.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace linebounce::workloads {
namespace {

constexpr std::array<const char*, 3> kHandleNames = {"a lock", "a barrier", "a set of queue nodes"};
// The kind is in the uppermost byte of the handle, which has the size of a pointer.
constexpr int kKindShift = 8 * (sizeof(std::uintptr_t) - 1);

}  // namespace

// The light userdata contains the kind and index instead of a pointer, so that programs get no addresses of the host.
void push_handle(lua_State* state, HandleKind kind, std::uint64_t number) {
  lua_pushlightuserdata(state, reinterpret_cast<void*>(static_cast<std::uintptr_t>(kind) << kKindShift | number));
}

std::size_t handle_at(Interpreter& lua, int argument, HandleKind kind) {
  // Returns null if the argument is not a handle. Such a pointer has no kind, because programs get no other userdata.
  const auto bits = reinterpret_cast<std::uintptr_t>(lua_touserdata(lua.state(), argument));
  if (bits >> kKindShift != static_cast<std::uintptr_t>(kind)) {
    lua.fail(fmt::format("argument {} must be {}, and is {}", argument - 1, kHandleNames[static_cast<std::size_t>(kind) - 1],
                         luaL_typename(lua.state(), argument)));
  }
  return bits & ((std::uintptr_t{1} << kKindShift) - 1);
}

void set_machine(Interpreter& lua, int line_bytes, const std::vector<CpuPlace>& places, int cpus, int last_memory_node) {
  lua_State* state = lua.state();
  lua.cpus = cpus;
  lua_createtable(state, 0, 6);
  // Sets machine.NAME to a table by CPU. Returns how many numbers it counts.
  const auto set_by_cpu = [&](const char* name, int CpuPlace::*number) {
    int count = 1;
    lua_createtable(state, cpus - 1, 1);  // CPU 0's entry is beside the array part of the Lua table, which begins at 1
    for (int cpu = 0; cpu < cpus; ++cpu) {
      const int value = places.empty() ? 0 : places[static_cast<std::size_t>(cpu)].*number;
      count = std::max(count, value + 1);
      lua_pushinteger(state, value);
      lua_rawseti(state, -2, cpu);
    }
    lua_setfield(state, -2, name);
    return count;
  };
  lua.nodes = set_by_cpu("node_of", &CpuPlace::os_node);
  const int caches = set_by_cpu("cache_of", &CpuPlace::cache);
  lua.most_homes = std::max(lua.nodes, last_memory_node + 1);
  for (const auto& [name, value] :
       {std::pair{"cpus", cpus}, {"nodes", lua.nodes}, {"caches", caches}, {"line_bytes", line_bytes}}) {
    lua_pushinteger(state, value);
    lua_setfield(state, -2, name);
  }
  lua_setglobal(state, "machine");
}

void name_functions(Interpreter& lua, AddressSpace& memory) {
  for (Interpreter::NamedFunction& function : lua.functions) function.id = memory.function(function.name, function.mode);
}

}  // namespace linebounce::workloads
