// The conditions of spins in Lua: comparisons of words with values. A condition can't be a Lua function, because a function
// could count its calls, and their number depends on how spins are simulated (engine.parked_spins).
#pragma once

#include <vector>

#include "workloads/lua/interpreter.hpp"
#include "workloads/lua/lua_structure.hpp"

namespace linebounce::workloads {

// Returns the part of `value` that a word of this size can hold.
inline Value low_bytes(Value value, int bytes) {
  return value & ~Value{0} >> (64 - 8 * bytes);
}

// Returns the word at `index` of Lua's stack. Errors: LuaError if there is no word, or if it is in no object.
Cpu::Word checked_word(Interpreter& lua, int index);
// Fast path of checked_word(), for a word that was checked before. Lua converts a value that is not a number to 0, which is
// never a word.
inline Cpu::Word word_at(Interpreter& lua, int index) {
  const lua_Integer packed = lua_tointeger(lua.state(), index);
  return lua.knows_word(packed) ? LuaWord::unpack(packed) : checked_word(lua, index);
}

// A spin evaluates its condition for every load, so all six comparisons are one test: is the value in a range, or not in it?
struct SpinWord {
  Cpu::Word word;
  Value mask = ~Value{0};
  Value first = 0, length = 0;  // the range is [first, first + length], modulo 2^64
  bool outside = false;         // the condition holds outside of the range

  [[nodiscard]] bool holds(Value value) const { return ((value & mask) - first <= length) != outside; }
};

// Reads a condition, word, "==", value [, mask], that begins at `index` of Lua's stack. Values are compared as signed integers,
// as in Lua. Errors: LuaError, here and below.
SpinWord read_spin_word(Interpreter& lua, int index);
// Reads a list of conditions, { { word, "==", value }, ... }. All words must have the same size.
std::vector<SpinWord> read_spin_words(Interpreter& lua, int index);

}  // namespace linebounce::workloads
