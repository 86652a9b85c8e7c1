#include "workloads/lua/setup_functions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "workloads/locks/lock_set.hpp"
#include "workloads/lua/condition.hpp"
#include "workloads/lua/lua_lock.hpp"
#include "workloads/lua/lua_structure.hpp"
#include "workloads/lua/lua_table.hpp"
#include "workloads/lua/setup_context.hpp"

namespace linebounce::workloads {
namespace {

constexpr std::int64_t kMostObjects = 1 << 20;
constexpr std::size_t kMostFunctions = 1 << 16, kMostLocks = 1 << 16;
// The key in Lua's registry of a table from each structure to its index in Interpreter::layouts.
constexpr const char* kLayoutRegistry = "linebounce.layouts";

SetupContext& context_of(Interpreter& lua) {
  lua.count_operation();
  if (lua.setup == nullptr) lua.fail("memory, locks and barriers are placed in setup() alone");
  return *lua.setup;
}

std::string text_at(Interpreter& lua, int argument, const char* what) {
  if (lua_type(lua.state(), argument) != LUA_TSTRING) lua.fail(fmt::format("argument {} must be {}, a string", argument, what));
  return lua.text_at(argument);
}

std::int64_t integer_at(Interpreter& lua, int argument, const char* what) {
  int is_whole = 0;
  const lua_Integer number = lua_tointegerx(lua.state(), argument, &is_whole);
  if (lua_type(lua.state(), argument) != LUA_TNUMBER || is_whole == 0)
    lua.fail(
        fmt::format("argument {} must be {}, a whole number, and is {}", argument, what, luaL_typename(lua.state(), argument)));
  return number;
}

// Pushes a table of the fields' offsets. A program adds an offset to an object's address.
int push_structure(Interpreter& lua, Layout layout) {
  lua_State* state = lua.state();
  lua.layouts.push_back(std::move(layout));
  push_fields(state, lua.layouts.back(), 0);
  luaL_getsubtable(state, LUA_REGISTRYINDEX, kLayoutRegistry);
  lua_pushvalue(state, -2);
  lua_pushinteger(state, static_cast<lua_Integer>(lua.layouts.size() - 1));
  lua_rawset(state, -3);
  lua_pop(state, 1);
  return 1;
}

bool is_structure(lua_State* state, int index) {
  luaL_getsubtable(state, LUA_REGISTRYINDEX, kLayoutRegistry);
  lua_pushvalue(state, index);
  const bool known = lua_rawget(state, -2) != LUA_TNIL;
  lua_pop(state, 2);
  return known;
}

// structure { ... }, or structure(layout "NAME").
int make_structure(lua_State* state) {
  Interpreter& lua = Interpreter::of(state);
  const SetupContext& context = context_of(lua);
  if (lua_type(state, 1) != LUA_TTABLE) lua.fail("structure: write structure { name = \"node\", \"next\", \"value:4\" }");
  if (is_structure(state, 1)) {
    lua_settop(state, 1);
    return 1;
  }
  return push_structure(lua, read_structure(lua, 1, context.memory.line_bytes()));
}

// layout "NAME": the structure of this name in the file that the program's parameter `layout` names.
int find_layout(lua_State* state) {
  Interpreter& lua = Interpreter::of(state);
  const SetupContext& context = context_of(lua);
  const std::string name = text_at(lua, 1, "a structure's name");
  if (context.layouts == nullptr || context.layouts->empty())
    lua.fail(
        fmt::format("layout: no file says where {}'s fields are: a program names it in its parameters, {{ name = "
                    "\"layout\", default = \"FILE\", meaning = \"...\" }}",
                    name));
  const auto& all = context.layouts->all();
  const auto found = all.find(name);
  if (found == all.end()) {
    std::string known;
    for (const auto& [other, layout] : all) known += (known.empty() ? "" : ", ") + other;
    lua.fail(fmt::format("layout: the file has no structure {}; it has: {}", name, known));
  }
  for (const Field& field : found->second.fields) {
    if (field.section != Section::own)
      lua.fail(fmt::format("layout: {}.{} is in a part of its own, which a program in Lua can't place", name, field.name));
  }
  return push_structure(lua, found->second);
}

const Layout& layout_at(Interpreter& lua, int argument) {
  lua_State* state = lua.state();
  luaL_getsubtable(state, LUA_REGISTRYINDEX, kLayoutRegistry);
  lua_pushvalue(state, argument);
  if (lua_isnil(state, -1) || lua_rawget(state, -2) == LUA_TNIL)
    lua.fail(fmt::format("argument {} must be what structure {{ ... }} has returned", argument));
  const auto number = static_cast<std::size_t>(lua_tointeger(state, -1));
  lua_pop(state, 2);
  return lua.layouts[number];
}

void push_object(lua_State* state, const Layout& layout, Address base) {
  push_fields(state, layout, base);
  lua_pushinteger(state, static_cast<lua_Integer>(base));
  lua_setfield(state, -2, "address");
}

// The options of place() and place_array(): { node = 1, count = 8 }.
struct PlaceOptions {
  std::optional<Home> home;
  std::int64_t count = -1;  // number of objects in the returned table; -1: one object, without a table
};

PlaceOptions options_at(Interpreter& lua, int argument) {
  PlaceOptions options;
  if (lua_isnoneornil(lua.state(), argument)) return options;
  if (lua_type(lua.state(), argument) != LUA_TTABLE)
    lua.fail(fmt::format("argument {} must be a table such as {{ node = 1, count = 8 }}", argument));
  const LuaTable table(lua, argument, "place", {"node", "count"});
  if (table.has("node")) options.home = Home::on_os_node(static_cast<int>(table.integer("node", 0, 0, lua.most_homes - 1)));
  if (table.has("count")) options.count = table.integer("count", 1, 1, kMostObjects);
  return options;
}

// Calls `place`, and says where in the program an object does not fit.
template <class Place>
Address placed(const Interpreter& lua, Place place) {
  try {
    return place();
  } catch (const std::invalid_argument& error) {
    lua.fail(error.what());
  }
}

// place(structure, name [, { node =, count = }]): returns the object, or with `count` a table of objects with keys from 0.
int place_object_of(lua_State* state) {
  Interpreter& lua = Interpreter::of(state);
  SetupContext& context = context_of(lua);
  const Layout& layout = layout_at(lua, 1);
  const std::string name = text_at(lua, 2, "the object's name");
  const PlaceOptions options = options_at(lua, 3);
  const auto one = [&](const std::string& object) {
    return context.once(lua, "place " + object,
                        [&] { return placed(lua, [&] { return context.memory.place(layout, object, 0, options.home); }); });
  };
  if (options.count < 0) {
    push_object(state, layout, one(name));
    return 1;
  }
  lua_createtable(state, static_cast<int>(options.count), 0);
  for (std::int64_t i = 0; i < options.count; ++i) {
    push_object(state, layout, one(fmt::format("{}[{}]", name, i)));
    lua_rawseti(state, -2, i);
  }
  return 1;
}

// place_per_cpu(structure, name): returns a table with an object for each CPU, on separate lines homed at the CPU's node.
int place_for_each_cpu(lua_State* state) {
  Interpreter& lua = Interpreter::of(state);
  SetupContext& context = context_of(lua);
  Layout layout = layout_at(lua, 1);
  const int line = context.memory.line_bytes();
  layout.size = (layout.size + line - 1) / line * line;
  const std::string name = text_at(lua, 2, "the objects' name");
  lua_newtable(state);
  for (int cpu = 0; cpu < context.per_cpu.cpus(); ++cpu) {
    const std::string object = fmt::format("{}[{}]", name, cpu);
    push_object(state, layout, context.once(lua, "place " + object, [&] {
      return placed(lua, [&] { return context.per_cpu.place(layout, object, cpu); });
    }));
    lua_rawseti(state, -2, cpu);
  }
  return 1;
}

// place_array(name, bytes [, { node = }]): returns the address of an array of bytes, which has no fields.
int place_bytes_of(lua_State* state) {
  Interpreter& lua = Interpreter::of(state);
  SetupContext& context = context_of(lua);
  const std::string name = text_at(lua, 1, "the array's name");
  const std::int64_t bytes = integer_at(lua, 2, "its size in bytes");
  if (bytes < 1 || bytes > std::int64_t{1} << 40) lua.fail(fmt::format("place_array: {} bytes; legal: 1 to 2^40", bytes));
  const PlaceOptions options = options_at(lua, 3);
  if (options.count >= 0) lua.fail("place_array: bytes have no count; give their number");
  const Address address = context.once(
      lua, "array " + name, [&] { return placed(lua, [&] { return context.memory.place_array(name, bytes, options.home); }); });
  lua_pushinteger(state, static_cast<lua_Integer>(address));
  return 1;
}

// preset(word, value): sets the word's value at the start of the simulation.
int preset_word(lua_State* state) {
  Interpreter& lua = Interpreter::of(state);
  SetupContext& context = context_of(lua);
  const Cpu::Word word = checked_word(lua, 1);
  const auto value = static_cast<Value>(integer_at(lua, 2, "its value"));
  context.once(lua, fmt::format("preset {} {}", word.address, value), [&] {
    context.memory.preset(word.address, value, word.bytes);
    return 0;
  });
  return 0;
}

// lock_word(structure), counter_word(structure): return the lock's or counter's own object. It lies in the word that the user
// of the lock or counter provides, if it fits there, and otherwise on a separate line.
int place_own_word(lua_State* state) {
  Interpreter& lua = Interpreter::of(state);
  SetupContext& context = context_of(lua);
  if (context.own == nullptr) lua.fail("lock_word is for files of locks and counters; a program uses place()");
  const OwnWord& own = *context.own;
  Layout layout = layout_at(lua, 1);
  // A single field is narrowed to the size of the provided word.
  if (own.word && layout.fields.size() == 1)
    layout.size = layout.fields[0].size = std::min(layout.fields[0].size, own.word_bytes);
  const Address address = context.once(lua, "word", [&]() -> Address {
    if (own.word && layout.size <= own.word_bytes) return *own.word;
    const int line = context.memory.line_bytes();
    layout.size = (layout.size + line - 1) / line * line;
    return context.memory.place(layout, own.name, line);
  });
  push_object(state, layout, address);
  return 1;
}

// queue_nodes(structure): returns a handle to nodes on separate lines, which CPUs take and give back. All locks of a run whose
// structures have the same name share them.
int place_queue_nodes(lua_State* state) {
  Interpreter& lua = Interpreter::of(state);
  SetupContext& context = context_of(lua);
  Layout layout = layout_at(lua, 1);
  const int line = context.memory.line_bytes();
  layout.size = (layout.size + line - 1) / line * line;
  const std::uint64_t number = context.once(lua, "nodes " + layout.name, [&] {
    context.handles.nodes.push_back(&context.per_cpu.nodes(layout));
    return context.handles.nodes.size() - 1;
  });
  push_handle(state, HandleKind::nodes, number);
  return 1;
}

MeteredLock& create_known_lock(Interpreter& lua, SetupContext& context, const std::string& algorithm, const std::string& name) {
  try {
    return context.locks->create(algorithm, name);
  } catch (const LuaError&) {
    throw;
  } catch (const std::invalid_argument& unknown) {
    lua.fail(unknown.what());
  }
}

MeteredLock& create_lock(Interpreter& lua, SetupContext& context, const std::string& name) {
  if (lua_type(lua.state(), 1) == LUA_TSTRING) return create_known_lock(lua, context, lua.text_at(1), name);
  return context.locks->create(own_lock_entry(lua, 1, context.own_locks), name, {});
}

// lock("ticket", name) or lock({ acquire = function(cpu, lock) ... end, release = ... }, name): returns a handle to a new lock.
int make_lock(lua_State* state) {
  Interpreter& lua = Interpreter::of(state);
  SetupContext& context = context_of(lua);
  if (context.locks == nullptr) lua.fail("a lock's setup() makes no other locks");
  const int type = lua_type(state, 1);
  if (type != LUA_TSTRING && type != LUA_TTABLE)
    lua.fail("lock: write lock(\"ticket\", \"name\"), or lock({ acquire = ..., release = ... }, \"name\")");
  const std::string name = text_at(lua, 2, "the lock's name");
  if (context.handles.locks.size() == kMostLocks) lua.fail(fmt::format("lock: more than {} locks", kMostLocks));
  const std::uint64_t number = context.once(lua, "lock " + name, [&] {
    context.handles.locks.push_back(&create_lock(lua, context, name));
    return context.handles.locks.size() - 1;
  });
  context.handles.sleepers = context.locks->sleepers();
  if (type == LUA_TTABLE) {
    const std::uint64_t own = context.once(lua, "own " + name, [&] { return context.own_locks.size() - 1; });
    LuaObject& object = context.own_locks[own]->object();
    object.hosts()[static_cast<std::size_t>(*lua.cpu_number())] = LuaHost(lua, 1, object.functions());
    object.join(lua, 1);
  }
  push_handle(state, HandleKind::lock, number);
  return 1;
}

// barrier(name): returns a handle to a new barrier for all CPUs.
int make_barrier(lua_State* state) {
  Interpreter& lua = Interpreter::of(state);
  SetupContext& context = context_of(lua);
  const std::string name = text_at(lua, 1, "the barrier's name");
  const std::uint64_t number = context.once(lua, "barrier " + name, [&] {
    context.handles.barriers.emplace_back(context.memory, name, context.per_cpu.cpus());
    return context.handles.barriers.size() - 1;
  });
  push_handle(state, HandleKind::barrier, number);
  return 1;
}

// shootdowns(): enables cpu:shoot_down(), with which CPUs drop each other's translations of pages.
int use_shootdowns(lua_State* state) {
  Interpreter& lua = Interpreter::of(state);
  SetupContext& context = context_of(lua);
  if (context.places.empty()) lua.fail("shootdowns(): only programs may call it");
  context.once(lua, "shootdowns", [&] {
    LuaHandles& handles = context.handles;
    if (handles.shootdowns) lua.fail("shootdowns(): call it once");
    handles.interrupts.emplace(context.per_cpu.cpus());
    handles.shootdowns.emplace(context.memory, context.places, *handles.interrupts);
    return 0;
  });
  return 0;
}

// futexes(): enables cpu:futex_wait() and cpu:futex_wake(). In a program, `sleeps` of its locks covers its own waits, too.
int use_futexes(lua_State* state) {
  Interpreter& lua = Interpreter::of(state);
  SetupContext& context = context_of(lua);
  if (context.own != nullptr && !context.handles.sleepers) lua.fail(kMustDeclareSleep);
  context.once(lua, "futexes", [&] {
    context.handles.futexes = &Futexes::of(context.per_cpu);
    return 0;
  });
  return 0;
}

// The function that named() returns. Upvalues: the Lua function, and its index in `functions`.
int call_named(lua_State* state) {
  Interpreter& lua = Interpreter::of(state);
  lua_pushvalue(state, lua_upvalueindex(1));
  lua_insert(state, 1);
  const int arguments = lua_gettop(state) - 1;
  const Interpreter::NamedFunction& function =
      lua.functions[static_cast<std::size_t>(lua_tointeger(state, lua_upvalueindex(2)))];
  if (!lua.bound()) {
    lua.call(arguments, LUA_MULTRET);
  } else {
    const FunctionScope scope(lua.cpu(), function.id);
    lua.call(arguments, LUA_MULTRET);
  }
  return lua_gettop(state);
}

// named(name, function [, "user"]): returns a function that does the same as `function`, and that reports show under `name`.
int make_named(lua_State* state) {
  Interpreter& lua = Interpreter::of(state);
  const std::string name = text_at(lua, 1, "the function's name");
  if (lua_type(state, 2) != LUA_TFUNCTION) lua.fail("named: argument 2 must be the function");
  const std::string mode = lua_isnoneornil(state, 3) ? "kernel" : text_at(lua, 3, "\"kernel\" or \"user\"");
  if (mode != "kernel" && mode != "user") lua.fail("named: argument 3 must be \"kernel\" or \"user\"");
  if (lua.setup == nullptr && lua.bound()) lua.fail("named: functions get their names before the simulation starts");
  if (lua.functions.size() == kMostFunctions) lua.fail(fmt::format("named: more than {} functions", kMostFunctions));
  lua_pushvalue(state, 2);
  lua_pushinteger(state, static_cast<lua_Integer>(lua.functions.size()));
  lua_pushcclosure(state, call_named, 2);
  lua.functions.push_back({name, mode == "user" ? Mode::user : Mode::kernel, 0});
  return 1;
}

constexpr std::array<luaL_Reg, 14> kSetupFunctions = {{{"structure", make_structure},
                                                       {"layout", find_layout},
                                                       {"place", place_object_of},
                                                       {"place_per_cpu", place_for_each_cpu},
                                                       {"place_array", place_bytes_of},
                                                       {"preset", preset_word},
                                                       {"lock_word", place_own_word},
                                                       {"counter_word", place_own_word},
                                                       {"queue_nodes", place_queue_nodes},
                                                       {"lock", make_lock},
                                                       {"barrier", make_barrier},
                                                       {"shootdowns", use_shootdowns},
                                                       {"futexes", use_futexes},
                                                       {"named", make_named}}};

}  // namespace

void add_setup_functions(lua_State* state) {
  for (const luaL_Reg& function : kSetupFunctions) lua_register(state, function.name, function.func);
}

}  // namespace linebounce::workloads
