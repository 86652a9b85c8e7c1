// The conditions of spins in Lua: comparisons of words with values. A condition can't be a Lua function, because a function
// could count its calls, and their number depends on how spins are simulated (engine.parked_spins).
#pragma once

#include <vector>

#include "workloads/lua/interpreter.hpp"

namespace linebounce::workloads {

// Returns the part of `value` that a word of this size can hold.
inline Value low_bytes(Value value, int bytes) {
  return bytes >= 8 ? value : value & ((Value{1} << 8 * bytes) - 1);
}

// Returns the word at `index` of Lua's stack. Errors: LuaError if there is no word, or if it is in no object.
Cpu::Word checked_word(Interpreter& lua, int index);

enum class Comparison : std::uint8_t { equal, unequal, less, at_most, greater, at_least };

struct SpinWord {
  Cpu::Word word;
  Comparison comparison;
  Value operand;
  Value mask;

  [[nodiscard]] bool holds(Value value) const;
};

// Reads a condition, word, "==", value [, mask], that begins at `index` of Lua's stack. Values are compared as signed integers,
// as in Lua. Errors: LuaError, here and below.
SpinWord read_spin_word(Interpreter& lua, int index);
// Reads a list of conditions, { { word, "==", value }, ... }. All words must have the same size.
std::vector<SpinWord> read_spin_words(Interpreter& lua, int index);

}  // namespace linebounce::workloads
