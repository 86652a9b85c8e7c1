#include "workloads/lua/condition.hpp"

#include <fmt/format.h>

#include <string_view>

namespace linebounce::workloads {
namespace {

constexpr const char* kSpinForm = "a spin waits for word, \"==\", value; legal comparisons: == ~= < <= > >=";

constexpr Value kLeast = Value{1} << 63, kMost = ~kLeast;  // bounds of signed values

constexpr int code_of(std::string_view sign) {
  return sign.size() == 1 ? sign[0] : sign.size() == 2 ? sign[0] << 8 | sign[1] : 0;
}

// Sets the range of a comparison with `operand`. Returns false if `sign` is not a comparison.
bool set_range(SpinWord& spin, std::string_view sign, Value operand) {
  const int code = code_of(sign);
  switch (code) {
    case code_of("=="):
    case code_of("~="): spin.first = operand, spin.length = 0; break;
    case code_of("<="):
    case code_of(">"): spin.first = kLeast, spin.length = operand - kLeast; break;
    case code_of(">="):
    case code_of("<"): spin.first = operand, spin.length = kMost - operand; break;
    default: return false;
  }
  spin.outside = code == code_of("~=") || code == code_of(">") || code == code_of("<");
  return true;
}

Value operand_at(Interpreter& lua, int index) {
  int is_whole = 0;
  const lua_Integer operand = lua_tointegerx(lua.state(), index, &is_whole);
  if (is_whole == 0) lua.fail(fmt::format("{}; its value is {}", kSpinForm, luaL_typename(lua.state(), index)));
  return static_cast<Value>(operand);
}

}  // namespace

Cpu::Word checked_word(Interpreter& lua, int index) {
  int is_whole = 0;
  const lua_Integer packed = lua_tointegerx(lua.state(), index, &is_whole);
  if (is_whole == 0) {
    lua.fail(fmt::format("the word is {}: it must be a field of an object, or an address (is its name misspelt?)",
                         luaL_typename(lua.state(), index)));
  }
  if (!LuaWord::is_packed(packed)) lua.fail(fmt::format("no object has an address of 0x{:x}", static_cast<Address>(packed)));
  const Cpu::Word word = LuaWord::unpack(packed);
  lua.require_object(word.address, word.bytes);
  if ((word.address & static_cast<Address>(word.bytes - 1)) != 0)
    lua.fail(fmt::format("{} bytes at 0x{:x}; legal: multiples of the size", word.bytes, word.address));
  lua.remember_word(packed);
  return word;
}

SpinWord read_spin_word(Interpreter& lua, int index) {
  lua_State* state = lua.state();
  SpinWord spin{.word = word_at(lua, index)};
  std::size_t size = 0;
  const char* const sign = lua_tolstring(state, index + 1, &size);
  if (!set_range(spin, {sign, size}, low_bytes(operand_at(lua, index + 2), spin.word.bytes))) lua.fail(kSpinForm);
  if (!lua_isnoneornil(state, index + 3)) spin.mask = operand_at(lua, index + 3);
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
