// What a program waits for in a spin: a comparison of a word, not a function. How often a spin looks depends on how it is
// simulated (engine.parked_spins), and a function of the program's could count that.
#pragma once

#include <vector>

#include "workloads/lua/interpreter.hpp"

namespace linebounce::workloads {

// The low bytes of a value, as a word of this size holds it.
inline Value low_bytes(Value value, int bytes) {
  return bytes >= 8 ? value : value & ((Value{1} << 8 * bytes) - 1);
}

// A word that a program names, at `index` of Lua's stack. Errors: LuaError, if it is none, or in no object.
Cpu::Word checked_word(Interpreter& lua, int index);

enum class Comparison : std::uint8_t { equal, unequal, less, at_most, greater, at_least };

struct SpinWord {
  Cpu::Word word;
  Comparison comparison;
  Value operand;
  Value mask;

  [[nodiscard]] bool holds(Value value) const;
};

// word, "==", value [, mask] from `index` of Lua's stack on. Words are compared as Lua compares integers.
SpinWord read_spin_word(Interpreter& lua, int index);
// A list of such lists. Errors: LuaError, also where the words differ in size.
std::vector<SpinWord> read_spin_words(Interpreter& lua, int index);

}  // namespace linebounce::workloads
