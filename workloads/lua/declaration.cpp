#include "workloads/lua/declaration.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "models/text/spelling.hpp"
#include "workloads/locks/lock_registry.hpp"
#include "workloads/lua/lua_table.hpp"
#include "workloads/lua/missing_colon.hpp"

namespace linebounce::workloads {
namespace {

constexpr std::size_t kMostParameters = 1000, kMostChoices = 100;

}  // namespace

bool is_parameter_name(const std::string& name) {
  const auto legal = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  return !name.empty() && name[0] >= 'a' && name[0] <= 'z' && std::all_of(name.begin(), name.end(), legal) && name != "name" &&
         name != "program";
}

namespace {

bool has_global(Interpreter& lua, const char* name) {
  const int type = lua_getglobal(lua.state(), name);
  lua_pop(lua.state(), 1);
  return type != LUA_TNIL;
}

bool defines(Interpreter& lua, const char* name) {
  if (!lua.push_function(name)) return false;
  lua_pop(lua.state(), 1);
  return true;
}

// Calls `read` for each entry of the global list `name`, with the entry's index on Lua's stack.
template <class Read>
void for_each_entry(Interpreter& lua, const char* name, int type, const char* form, Read read) {
  lua_State* state = lua.state();
  const int found = lua_getglobal(state, name);
  if (found != LUA_TNIL && found != LUA_TTABLE) lua.fail(fmt::format("{} must be a list: {} = {{ {} }}", name, name, form));
  for (lua_Integer i = 1; found == LUA_TTABLE && lua_rawgeti(state, -1, i) != LUA_TNIL; ++i) {
    if (lua_type(state, -1) != type) lua.fail(fmt::format("{}: entry {} must be {}", name, i, form));
    read(lua_gettop(state));
    lua_pop(state, 1);
  }
  lua_settop(state, 0);
}

std::vector<std::string> choices_of(Interpreter& lua, const LuaTable& table) {
  std::vector<std::string> choices;
  const int type = table.push("choices");
  if (type != LUA_TNIL && type != LUA_TTABLE) lua.fail("parameters: choices must be a list of strings");
  for (lua_Integer i = 1; type == LUA_TTABLE && lua_rawgeti(lua.state(), -1, i) != LUA_TNIL; ++i) {
    if (lua_type(lua.state(), -1) != LUA_TSTRING) lua.fail("parameters: choices must be a list of strings");
    if (choices.size() == kMostChoices) lua.fail(fmt::format("parameters: more than {} choices", kMostChoices));
    choices.push_back(lua.text_at(-1));
    lua_pop(lua.state(), 1);
  }
  return choices;
}

ParameterValue default_of(Interpreter& lua, const LuaTable& table, const std::string& name) {
  const int type = table.push("default");
  lua_State* state = lua.state();
  ParameterValue value;
  if (type == LUA_TBOOLEAN) {
    value = lua_toboolean(state, -1) != 0;
  } else if (type == LUA_TSTRING) {
    value = lua.text_at(-1);
  } else if (lua_isinteger(state, -1) != 0) {
    value = static_cast<std::int64_t>(lua_tointeger(state, -1));
  } else if (type == LUA_TNUMBER) {
    value = static_cast<double>(lua_tonumber(state, -1));
  } else {
    lua.fail(fmt::format("parameters: {}: default must be a number, a string, true or false", name));
  }
  lua_pop(state, 1);
  return value;
}

ParameterDeclaration lock_declaration(const ParameterDeclaration& plain) {
  ParameterBinder binder;
  std::string lock = std::get<std::string>(plain.default_value);
  lock_parameter(binder, plain.name.c_str(), lock, plain.meaning.c_str(), [](const LockTraits&) { return std::string(); });
  return std::move(binder).declarations().front();
}

ParameterDeclaration read_parameter(Interpreter& lua, int index) {
  const LuaTable table(lua, index, "parameters", {"name", "default", "min", "max", "meaning", "choices", "lock"});
  ParameterDeclaration declared;
  declared.name = table.text("name");
  if (!is_parameter_name(declared.name))
    lua.fail(fmt::format("parameters: \"{}\" is not a parameter's name; legal: small letters, digits and _", declared.name));
  declared.default_value = default_of(lua, table, declared.name);
  declared.meaning = table.text("meaning");
  declared.minimum = table.number("min", declared.minimum);
  declared.maximum = table.number("max", declared.maximum);
  declared.choices = choices_of(lua, table);
  if (!table.flag("lock", false)) return declared;
  if (!std::holds_alternative<std::string>(declared.default_value)) lua.fail("parameters: a lock's default is a lock's name");
  return lock_declaration(declared);
}

const std::initializer_list<std::string_view> kTraits = {"cpus",       "excludes", "fifo",         "fits_4_bytes", "models",
                                                         "numa_aware", "readers",  "readers_nest", "sleeps"};

Readers readers_named(Interpreter& lua, const std::string& word) {
  if (word == "one_by_one") return Readers::one_by_one;
  if (word == "together") return Readers::together;
  if (word == "read_again") return Readers::read_again;
  lua.fail(fmt::format("traits: readers = \"{}\"; legal: \"one_by_one\", \"together\", \"read_again\"", word));
}

unsigned models_named(Interpreter& lua, const std::string& words) {
  const std::optional<unsigned> models = models_in(words);
  if (!models) lua.fail(fmt::format("traits: models = \"{}\"; legal: some of \"{}\"", words, fmt::join(kMemoryModels, " ")));
  return *models;
}

LockTraits traits_in(Interpreter& lua, const LuaTable& table) {
  LockTraits traits;
  traits.excludes = table.flag("excludes", true);
  traits.fifo = table.flag("fifo", false);
  traits.fits_4_bytes = table.flag("fits_4_bytes", false);
  traits.numa_aware = table.flag("numa_aware", false);
  traits.sleeps = table.flag("sleeps", false);
  traits.readers = readers_named(lua, table.text("readers", "one_by_one"));
  traits.readers_nest = table.flag("readers_nest", true);
  traits.models = models_named(lua, table.text("models", "sc tso ia64 c11"));
  traits.most_cpus = static_cast<int>(table.integer("cpus", 0, 1, 1024));
  return traits;
}

LockTraits read_traits(Interpreter& lua) {
  LockTraits traits;
  const int type = lua_getglobal(lua.state(), "traits");
  if (type != LUA_TNIL && type != LUA_TTABLE) lua.fail("traits must be a table: traits = { fifo = true }");
  if (type == LUA_TTABLE) traits = traits_in(lua, LuaTable(lua, lua_gettop(lua.state()), "traits", kTraits));
  lua_settop(lua.state(), 0);
  if (traits.readers != Readers::one_by_one && !(defines(lua, "acquire_shared") && defines(lua, "release_shared")))
    lua.fail("traits: readers other than \"one_by_one\" need acquire_shared and release_shared");
  traits.tries = defines(lua, "try_acquire");
  return traits;
}

std::set<std::string> globals_of(const Interpreter& lua) {
  std::set<std::string> names;
  lua_State* state = lua.state();
  lua_pushglobaltable(state);
  for (lua_pushnil(state); lua_next(state, -2) != 0; lua_pop(state, 1)) {
    if (lua_type(state, -2) == LUA_TSTRING) names.insert(lua_tostring(state, -2));
  }
  lua_pop(state, 1);
  return names;
}

// Refuses misspelt names of optional globals, which would otherwise be ignored silently.
void refuse_misspelt(const Interpreter& lua, const std::set<std::string>& defined) {
  for (const char* meant : {"begin_dying", "ends", "library", "parameters", "setup", "tallies", "title", "traits",
                            "acquire_shared", "release_shared", "try_acquire"}) {
    if (defined.contains(meant)) continue;
    for (const std::string& name : defined) {
      const bool longer = name.size() > std::string_view(meant).size() + 1;
      if (!longer && edit_distance(name, meant) < 2)
        lua.fail(fmt::format("\"{}\" is not known to Linebounce; did you mean {}? If not, give it another name", name, meant));
    }
  }
}

}  // namespace

LuaDeclaration declaration_of(const SourceFile& file) {
  Interpreter lua(file);
  const std::set<std::string> library = globals_of(lua);
  lua.load();
  require_colons(file);
  std::set<std::string> defined = globals_of(lua);
  std::erase_if(defined, [&library](const std::string& name) { return library.contains(name); });
  refuse_misspelt(lua, defined);
  LuaDeclaration declared;
  if (lua_getglobal(lua.state(), "title") == LUA_TSTRING) declared.title = lua.text_at(-1);
  if (lua_getglobal(lua.state(), "library") == LUA_TSTRING) declared.library = lua.text_at(-1);
  lua_settop(lua.state(), 0);
  declared.program = defines(lua, "run");
  declared.ends = has_global(lua, "ends");
  for_each_entry(lua, "parameters", LUA_TTABLE, "{ name = \"outside_cycles\", default = 1000, meaning = \"...\" }",
                 [&](int index) {
                   if (declared.parameters.size() == kMostParameters)
                     lua.fail(fmt::format("parameters: more than {}", kMostParameters));
                   declared.parameters.push_back(read_parameter(lua, index));
                   lua_settop(lua.state(), index);
                 });
  read_tallies(lua);
  if (defines(lua, "acquire") && defines(lua, "release")) declared.lock = read_traits(lua);
  declared.counter.events = defines(lua, "add") && defines(lua, "read");
  declared.counter.references = defines(lua, "get") && defines(lua, "put");
  if (!declared.program && !declared.lock && !declared.counter.events && !declared.counter.references)
    lua.fail(
        "the file defines no program, lock or counter. A program defines run(cpu); a lock acquire(cpu, lock) and release(cpu, "
        "lock); a counter add(cpu, counter, amount) and read(cpu, counter), or get(cpu, counter) and put(cpu, counter)");
  return declared;
}

std::vector<LuaDeclaration> read_heads(std::span<const SourceFile> locks) {
  SourceFile heads{"programs/locks", "heads = {}\n", true};
  for (const SourceFile& lock : locks) {
    heads.text += lock.text.substr(0, lock.text.find("\n\n"));
    heads.text += "\nheads[#heads + 1] = { title, traits or {}, library or \"\" } traits, library = nil, nil\n";
  }
  Interpreter lua(heads);
  lua_State* state = lua.state();
  lua.load();
  lua_getglobal(state, "heads");
  std::vector<LuaDeclaration> declared(locks.size());
  for (std::size_t i = 0; i < locks.size(); ++i) {
    lua_rawgeti(state, 1, static_cast<lua_Integer>(i) + 1);
    lua_rawgeti(state, 2, 1);
    declared[i].title = lua.text_at(-1);
    lua_rawgeti(state, 2, 2);
    declared[i].lock = traits_in(lua, LuaTable(lua, lua_gettop(state), "traits", kTraits));
    lua_rawgeti(state, 2, 3);
    declared[i].library = lua.text_at(-1);
    declared[i].lock->tries = locks[i].text.find("\nfunction try_acquire(") != std::string::npos;
    lua_settop(state, 1);
  }
  return declared;
}

std::vector<std::string> read_tallies(Interpreter& lua) {
  std::vector<std::string> tallies;
  for_each_entry(lua, "tallies", LUA_TSTRING, "\"operations\"", [&](int index) { tallies.push_back(lua.text_at(index)); });
  if (tallies.empty()) tallies.emplace_back("operations");
  if (tallies.size() > Cpu::kTallies) lua.fail(fmt::format("tallies: there may be {}", Cpu::kTallies));
  for (const std::string& tally : tallies) {
    if (!is_parameter_name(tally))
      lua.fail(fmt::format("tallies: \"{}\" is not a name; legal: small letters, digits and _", tally));
  }
  return tallies;
}

LockTraits read_own_traits(Interpreter& lua, int index) {
  lua_State* state = lua.state();
  for (const char* needed : {"acquire", "release"}) {
    if (lua_getfield(state, index, needed) != LUA_TFUNCTION)
      lua.fail(fmt::format("lock: the table has no function {}", needed));
    lua_pop(state, 1);
  }
  lua_newtable(state);
  for (const std::string_view trait : kTraits) {
    lua_getfield(state, index, trait.data());
    lua_setfield(state, -2, trait.data());
  }
  LockTraits traits = traits_in(lua, LuaTable(lua, lua_gettop(state), "lock", kTraits));
  lua_pop(state, 1);
  traits.tries = lua_getfield(state, index, "try_acquire") == LUA_TFUNCTION;
  lua_pop(state, 1);
  return traits;
}

}  // namespace linebounce::workloads
