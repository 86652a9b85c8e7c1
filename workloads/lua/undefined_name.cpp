#include "workloads/lua/undefined_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "models/text/spelling.hpp"

namespace linebounce::workloads {
namespace {

// The text keys of the table on top of the stack.
std::vector<std::string> keys_of_top(lua_State* state) {
  std::vector<std::string> keys;
  lua_pushnil(state);
  while (lua_next(state, -2) != 0) {
    if (lua_type(state, -2) == LUA_TSTRING) keys.emplace_back(lua_tostring(state, -2));
    lua_pop(state, 1);
  }
  return keys;
}

// All global names, and the names in global tables: "machine", "machine.cpus".
std::vector<std::string> known_names(lua_State* state) {
  lua_rawgeti(state, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
  const std::vector<std::string> globals = keys_of_top(state);
  std::vector<std::string> names = globals;
  for (const std::string& global : globals) {
    lua_pushlstring(state, global.data(), global.size());
    if (lua_rawget(state, -2) == LUA_TTABLE && global != "_G") {
      for (const std::string& key : keys_of_top(state)) names.push_back(fmt::format("{}.{}", global, key));
    }
    lua_pop(state, 1);
  }
  lua_pop(state, 1);
  std::ranges::sort(names);  // Lua's own order varies
  return names;
}

}  // namespace

std::string hint_for_undefined(lua_State* state, std::string_view message) {
  constexpr std::string_view kGlobal = "(global '";
  const std::size_t begin = message.find(kGlobal);
  if (begin == message.npos || message.find("a nil value") == message.npos || lua_checkstack(state, 8) == 0) return {};
  const std::string_view rest = message.substr(begin + kGlobal.size());
  const std::string_view word = rest.substr(0, rest.find('\''));
  const std::vector<std::string> names = known_names(state);
  const auto member = std::ranges::find_if(names, [word](std::string_view name) {
    return name.ends_with(word) && name.size() > word.size() && name[name.size() - word.size() - 1] == '.';
  });
  const std::string meant = member != names.end() ? *member : nearest(word, names);
  return meant.empty() ? "" : fmt::format("; did you mean {}?", meant);
}

}  // namespace linebounce::workloads
