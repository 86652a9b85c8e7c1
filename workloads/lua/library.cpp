#include "workloads/lua/library.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "workloads/lua/interpreter.hpp"
#include "workloads/lua/setup_functions.hpp"

namespace linebounce::workloads {
namespace {

constexpr std::array kBaseNames = {"assert", "error", "ipairs", "select", "tonumber", "type"};
constexpr std::array kMathNames = {"abs", "ceil",       "floor", "fmod", "huge",      "max",  "maxinteger",
                                   "min", "mininteger", "pi",    "sqrt", "tointeger", "type", "ult"};
constexpr std::array kStringNames = {"byte", "char", "len", "lower", "rep", "reverse", "sub", "upper"};
constexpr std::array kTableNames = {"concat", "insert", "move", "pack", "remove", "unpack"};

constexpr lua_Unsigned kMostMoved = 1 << 24;  // limit on the elements that table.move may move

bool is_plain(lua_State* state, int index) {
  const int type = lua_type(state, index);
  return type == LUA_TNIL || type == LUA_TBOOLEAN || type == LUA_TNUMBER || type == LUA_TSTRING;
}

// tostring(value). For values that Lua would print with an address, such as tables, returns only the type's name.
int plain_tostring(lua_State* state) {
  luaL_checkany(state, 1);
  if (is_plain(state, 1)) {
    luaL_tolstring(state, 1, nullptr);
  } else {
    lua_pushstring(state, luaL_typename(state, 1));
  }
  return 1;
}

int plain_format(lua_State* state) {
  Interpreter& lua = Interpreter::of(state);
  for (int argument = 1; argument <= lua_gettop(state); ++argument) {
    if (!is_plain(state, argument))
      lua.fail(fmt::format("string.format: argument {} is a {}, which has no text", argument, luaL_typename(state, argument)));
  }
  const std::string_view format = luaL_checkstring(state, 1);
  for (std::size_t at = format.find('%'); at != std::string_view::npos; at = format.find('%', at + 2)) {
    const std::size_t end = format.find_first_not_of("0123456789.-+ #", at + 1);
    if (end != std::string_view::npos && format[end] == 'p') lua.fail("string.format: %p shows an address of this computer");
  }
  return lua_tocfunction(state, lua_upvalueindex(1))(state);
}

// string.rep that returns at once if there is nothing to repeat. Lua's own would still loop, and in C, where the limit on
// instructions does not count.
int bounded_rep(lua_State* state) {
  std::size_t text = 0, separator = 0;
  luaL_checklstring(state, 1, &text);
  luaL_optlstring(state, 3, "", &separator);
  luaL_checkinteger(state, 2);
  if (text + separator > 0) return lua_tocfunction(state, lua_upvalueindex(1))(state);
  lua_pushliteral(state, "");
  return 1;
}

int bounded_move(lua_State* state) {
  const lua_Integer first = luaL_checkinteger(state, 2), last = luaL_checkinteger(state, 3);
  if (last >= first && static_cast<lua_Unsigned>(last) - static_cast<lua_Unsigned>(first) >= kMostMoved)
    Interpreter::of(state).fail(fmt::format("table.move: more than {} elements", kMostMoved));
  return lua_tocfunction(state, lua_upvalueindex(1))(state);
}

// A table's keys, sorted.
class SortedKeys {
 public:
  explicit SortedKeys(lua_State* state) : state_(state) {}

  void add(int index) {
    switch (lua_type(state_, index)) {
      case LUA_TNUMBER:
        if (lua_isinteger(state_, index) != 0) {
          integers_.push_back(lua_tointeger(state_, index));
        } else {
          numbers_.push_back(lua_tonumber(state_, index));
        }
        break;
      case LUA_TSTRING: texts_.push_back(text(index)); break;
      case LUA_TBOOLEAN: flags_.push_back(lua_toboolean(state_, index)); break;
      default:
        Interpreter::of(state_).fail(
            fmt::format("pairs: the keys must be numbers, texts or booleans, which have an order; one is a {}",
                        luaL_typename(state_, index)));
    }
  }

  // Pushes the keys as a list.
  void push() {
    lua_newtable(state_);
    push_all(integers_, lua_pushinteger);
    push_all(numbers_, lua_pushnumber);
    push_all(texts_, [](lua_State* state, std::string_view text) { lua_pushlstring(state, text.data(), text.size()); });
    push_all(flags_, lua_pushboolean);
  }

 private:
  [[nodiscard]] std::string_view text(int index) const {
    std::size_t size = 0;
    const char* begin = lua_tolstring(state_, index, &size);
    return {begin, size};
  }
  template <class Key, class PushKey>
  void push_all(std::vector<Key>& keys, PushKey push_key) {
    std::sort(keys.begin(), keys.end());
    for (const Key& key : keys) {
      push_key(state_, key);
      lua_rawseti(state_, -2, ++count_);
    }
  }

  lua_State* state_;
  std::vector<lua_Integer> integers_;
  std::vector<lua_Number> numbers_;
  std::vector<std::string_view> texts_;  // views of Lua's strings, which the table keeps alive
  std::vector<int> flags_;
  lua_Integer count_ = 0;
};

// The iterator of `pairs`. Upvalues: the table, the list of its keys, the number of keys already visited.
int next_sorted(lua_State* state) {
  lua_Integer at = lua_tointeger(state, lua_upvalueindex(3));
  for (;;) {
    if (lua_rawgeti(state, lua_upvalueindex(2), ++at) == LUA_TNIL) return 1;
    lua_pushvalue(state, -1);
    if (lua_rawget(state, lua_upvalueindex(1)) != LUA_TNIL) break;  // otherwise the key was removed meanwhile
    lua_pop(state, 2);
  }
  lua_pushinteger(state, at);
  lua_replace(state, lua_upvalueindex(3));
  return 2;
}

int sorted_pairs(lua_State* state) {
  luaL_checktype(state, 1, LUA_TTABLE);
  lua_settop(state, 1);
  SortedKeys keys(state);
  for (lua_pushnil(state); lua_next(state, 1) != 0; lua_pop(state, 1)) keys.add(-2);
  keys.push();
  lua_pushinteger(state, 0);
  lua_pushcclosure(state, next_sorted, 3);
  return 1;
}

// Copies the entries `names` of the table at -2 to the table at -1.
template <class Names>
void copy_entries(lua_State* state, const Names& names) {
  for (const char* name : names) {
    lua_getfield(state, -2, name);
    lua_setfield(state, -2, name);
  }
}

// Sets `name` in the table at index 1 to a table with only the functions `names` of a library.
template <class Names>
void open_part(lua_State* state, const char* name, lua_CFunction open, const Names& names) {
  luaL_requiref(state, name, open, 0);
  lua_newtable(state);
  copy_entries(state, names);
  lua_setfield(state, 1, name);
  lua_pop(state, 1);
}

// Replaces the entry `name` of the table at -1 by `function`, which gets the old entry as upvalue.
void replace(lua_State* state, const char* name, lua_CFunction function) {
  lua_getfield(state, -1, name);
  lua_pushcclosure(state, function, 1);
  lua_setfield(state, -2, name);
}

// Opens `string`, and makes methods of texts, such as ("text"):upper(), use only the part that programs have.
void open_strings(lua_State* state) {
  open_part(state, LUA_STRLIBNAME, luaopen_string, kStringNames);
  lua_pushliteral(state, "");
  lua_getmetatable(state, -1);
  lua_getfield(state, 1, LUA_STRLIBNAME);
  lua_getfield(state, -2, "__index");
  lua_getfield(state, -1, "format");
  lua_pushcclosure(state, plain_format, 1);
  lua_setfield(state, -3, "format");
  lua_pop(state, 1);
  replace(state, "rep", bounded_rep);
  lua_setfield(state, -2, "__index");
  lua_pop(state, 2);
}

}  // namespace

void open_library(lua_State* state) {
  lua_newtable(state);
  luaL_requiref(state, LUA_GNAME, luaopen_base, 0);
  lua_pushvalue(state, 1);
  copy_entries(state, kBaseNames);
  lua_pop(state, 2);
  open_part(state, LUA_MATHLIBNAME, luaopen_math, kMathNames);
  open_part(state, LUA_TABLIBNAME, luaopen_table, kTableNames);
  lua_getfield(state, 1, LUA_TABLIBNAME);
  replace(state, "move", bounded_move);
  lua_pop(state, 1);
  open_strings(state);
  lua_pushcfunction(state, sorted_pairs);
  lua_setfield(state, 1, "pairs");
  lua_pushcfunction(state, plain_tostring);
  lua_setfield(state, 1, "tostring");
  lua_rawseti(state, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
  add_setup_functions(state);
}

}  // namespace linebounce::workloads
