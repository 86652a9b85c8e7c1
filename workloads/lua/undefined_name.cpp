#include "workloads/lua/undefined_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "models/text/spelling.hpp"
#include "workloads/lua/cpu_functions.hpp"

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

// The name that Lua's message gives after its kind: "lod" of "(method 'lod')". Empty if the message is about another kind.
std::string_view named_as(std::string_view kind, std::string_view message) {
  const std::string begin = fmt::format("({} '", kind);
  const std::size_t at = message.find(begin);
  if (at == message.npos) return {};
  const std::string_view rest = message.substr(at + begin.size());
  return rest.substr(0, rest.find('\''));
}

std::string meant_global(lua_State* state, std::string_view word) {
  const std::vector<std::string> names = known_names(state);
  const auto member = std::ranges::find_if(names, [word](std::string_view name) {
    return name.ends_with(word) && name.size() > word.size() && name[name.size() - word.size() - 1] == '.';
  });
  return member != names.end() ? *member : nearest(word, names);
}

// A field of a global table; where a function was to be called, also one of `cpu`.
std::string meant_field(lua_State* state, std::string_view word, bool called) {
  std::vector<std::string> names;
  for (const std::string& name : known_names(state)) {
    if (const std::size_t dot = name.find('.'); dot != name.npos) names.push_back(name.substr(dot + 1));
  }
  if (called) {
    for (std::string& name : cpu_function_names()) names.push_back(std::move(name));
  }
  return nearest(word, names);
}

std::string meant_by(lua_State* state, std::string_view message) {
  if (const auto word = named_as("global", message); !word.empty()) return meant_global(state, word);
  if (const auto word = named_as("method", message); !word.empty()) {
    const std::string name = nearest(word, cpu_function_names());
    return name.empty() ? "" : "cpu:" + name;
  }
  const bool called = message.find("attempt to call") != message.npos;
  if (const auto word = named_as("field", message); !word.empty()) return meant_field(state, word, called);
  return {};
}

}  // namespace

std::string hint_for_undefined(lua_State* state, std::string_view message) {
  if (message.find("a nil value") == message.npos || lua_checkstack(state, 8) == 0) return {};
  const std::string meant = meant_by(state, message);
  return meant.empty() ? "" : fmt::format("; did you mean {}?", meant);
}

}  // namespace linebounce::workloads
