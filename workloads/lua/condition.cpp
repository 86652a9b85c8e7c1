#include "workloads/lua/condition.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

#include "workloads/lua/lua_structure.hpp"

namespace linebounce::workloads {
namespace {

constexpr std::array<std::pair<std::string_view, Comparison>, 6> kComparisons = {{{"==", Comparison::equal},
                                                                                  {"~=", Comparison::unequal},
                                                                                  {"<", Comparison::less},
                                                                                  {"<=", Comparison::at_most},
                                                                                  {">", Comparison::greater},
                                                                                  {">=", Comparison::at_least}}};
constexpr const char* kSpinForm = "a spin waits for word, \"==\", value; legal comparisons: == ~= < <= > >=";

Value operand_at(Interpreter& lua, int index) {
  if (lua_isinteger(lua.state(), index) == 0)
    lua.fail(fmt::format("{}; its value is {}", kSpinForm, luaL_typename(lua.state(), index)));
  return static_cast<Value>(lua_tointeger(lua.state(), index));
}

}  // namespace

Cpu::Word checked_word(Interpreter& lua, int index) {
  if (lua_isinteger(lua.state(), index) == 0) {
    lua.fail(fmt::format("the word is {}: it must be a field of an object, or an address (is its name misspelt?)",
                         luaL_typename(lua.state(), index)));
  }
  const Cpu::Word word = LuaWord::unpack(lua_tointeger(lua.state(), index));
  lua.require_object(word.address, word.bytes);
  if ((word.address & static_cast<Address>(word.bytes - 1)) != 0)
    lua.fail(fmt::format("{} bytes at 0x{:x}: a multiple of the size is legal", word.bytes, word.address));
  return word;
}

bool SpinWord::holds(Value value) const {
  const auto left = static_cast<std::int64_t>(value & mask);
  const auto right = static_cast<std::int64_t>(operand);
  switch (comparison) {
    case Comparison::equal: return left == right;
    case Comparison::unequal: return left != right;
    case Comparison::less: return left < right;
    case Comparison::at_most: return left <= right;
    case Comparison::greater: return left > right;
    case Comparison::at_least: return left >= right;
  }
  return false;
}

SpinWord read_spin_word(Interpreter& lua, int index) {
  SpinWord spin{checked_word(lua, index), Comparison::equal, 0, ~Value{0}};
  const std::string_view sign = lua_type(lua.state(), index + 1) == LUA_TSTRING ? lua_tostring(lua.state(), index + 1) : "";
  std::size_t which = 0;
  while (which < kComparisons.size() && kComparisons[which].first != sign) ++which;
  if (which == kComparisons.size()) lua.fail(kSpinForm);
  spin.comparison = kComparisons[which].second;
  spin.operand = low_bytes(operand_at(lua, index + 2), spin.word.bytes);
  if (!lua_isnoneornil(lua.state(), index + 3)) spin.mask = operand_at(lua, index + 3);
  return spin;
}

std::vector<SpinWord> read_spin_words(Interpreter& lua, int index) {
  lua_State* state = lua.state();
  std::vector<SpinWord> spins;
  if (lua_type(state, index) != LUA_TTABLE) lua.fail("spin_until_any: write { { word, \"==\", value }, ... }");
  for (lua_Integer i = 1; lua_rawgeti(state, index, i) != LUA_TNIL; ++i) {
    if (lua_type(state, -1) != LUA_TTABLE) lua.fail("spin_until_any: write { { word, \"==\", value }, ... }");
    const int entry = lua_gettop(state);
    for (lua_Integer part = 1; part <= 4; ++part) lua_rawgeti(state, entry, part);
    spins.push_back(read_spin_word(lua, entry + 1));
    if (spins.back().word.bytes != spins.front().word.bytes) lua.fail("spin_until_any: all words must have the same size");
    lua_settop(state, entry - 1);
  }
  lua_pop(state, 1);
  if (spins.empty()) lua.fail("spin_until_any: there is nothing to wait for");
  return spins;
}

}  // namespace linebounce::workloads
