#include "workloads/lua/lua_table.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "models/text/spelling.hpp"

namespace linebounce::workloads {

LuaTable::LuaTable(Interpreter& lua, int index, std::string what, std::initializer_list<std::string_view> legal)
    : lua_(lua), index_(index), what_(std::move(what)) {
  lua_State* state = lua.state();
  std::string unknown;  // the alphabetically first unknown name, because Lua's own order varies from run to run
  for (lua_pushnil(state); lua_next(state, index) != 0; lua_pop(state, 1)) {
    if (lua_type(state, -2) != LUA_TSTRING) continue;
    const std::string name = lua.text_at(-2);
    if (std::find(legal.begin(), legal.end(), name) == legal.end() && (unknown.empty() || name < unknown)) unknown = name;
  }
  if (unknown.empty()) return;
  const std::string near = nearest(unknown, std::vector<std::string>(legal.begin(), legal.end()));
  lua.fail(fmt::format("{}: there is no {}; legal: {}{}", what_, unknown, fmt::join(legal, ", "),
                       near.empty() ? "" : fmt::format("; did you mean {}?", near)));
}

int LuaTable::push(const char* name) const {
  return lua_getfield(lua_.state(), index_, name);
}

bool LuaTable::has(const char* name) const {
  const int type = push(name);
  lua_pop(lua_.state(), 1);
  return type != LUA_TNIL;
}

std::string LuaTable::text(const char* name) const {
  if (push(name) != LUA_TSTRING) refuse(name, "a string");
  const std::string text = lua_.text_at(-1);
  lua_pop(lua_.state(), 1);
  return text;
}

std::string LuaTable::text(const char* name, const std::string& otherwise) const {
  return has(name) ? text(name) : otherwise;
}

bool LuaTable::is_text(const char* name, std::string_view text) const {
  const bool is = push(name) == LUA_TSTRING && text == lua_tostring(lua_.state(), -1);
  lua_pop(lua_.state(), 1);
  return is;
}

std::int64_t LuaTable::integer(const char* name, std::int64_t otherwise, std::int64_t least, std::int64_t most) const {
  if (!has(name)) return otherwise;
  push(name);
  int whole = 0;
  const lua_Integer value = lua_type(lua_.state(), -1) == LUA_TNUMBER ? lua_tointegerx(lua_.state(), -1, &whole) : 0;
  if (whole == 0 || value < least || value > most) refuse(name, fmt::format("a whole number from {} to {}", least, most));
  lua_pop(lua_.state(), 1);
  return value;
}

double LuaTable::number(const char* name, double otherwise) const {
  if (!has(name)) return otherwise;
  if (push(name) != LUA_TNUMBER) refuse(name, "a number");
  const double value = lua_tonumber(lua_.state(), -1);
  lua_pop(lua_.state(), 1);
  return value;
}

bool LuaTable::flag(const char* name, bool otherwise) const {
  if (!has(name)) return otherwise;
  if (push(name) != LUA_TBOOLEAN) refuse(name, "true or false");
  const bool value = lua_toboolean(lua_.state(), -1) != 0;
  lua_pop(lua_.state(), 1);
  return value;
}

std::string LuaTable::first_text() const {
  if (lua_rawgeti(lua_.state(), index_, 1) != LUA_TSTRING) lua_.fail(what_ + ": its name must come first, as a string");
  const std::string text = lua_.text_at(-1);
  lua_pop(lua_.state(), 1);
  return text;
}

void LuaTable::refuse(const char* name, std::string_view expected) const {
  lua_.fail(fmt::format("{}: {} must be {}", what_, name, expected));
}

}  // namespace linebounce::workloads
