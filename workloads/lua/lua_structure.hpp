// Reads structures as programs write them:
//
//   structure { name = "ring", "head:4", { "tail", at = machine.line_bytes }, { "slot", count = 8 }, align = "line" }
//
// LuaWord represents a word of simulated memory in Lua as an integer: its address, with a code for its size in the upper byte
// (8 bytes shifted right by the code). A field of a structure is its offset in this form, so that address + field is a word.
#pragma once

#include "models/core/cpu.hpp"
#include "workloads/lua/interpreter.hpp"
#include "workloads/program/address_space.hpp"

namespace linebounce::workloads {

class LuaWord {
 public:
  static lua_Integer pack(Address address, int bytes) {
    Address code = 0;
    while (bytes < 8 >> code) ++code;
    return static_cast<lua_Integer>(address | code << kShift);
  }
  static bool is_packed(lua_Integer word) { return static_cast<Address>(word) >> (kShift + 2) == 0; }
  static Cpu::Word unpack(lua_Integer word) {
    const auto bits = static_cast<Address>(word);
    return {bits & ((Address{1} << kShift) - 1), 8 >> (bits >> kShift & 3)};
  }

 private:
  static constexpr int kShift = AddressSpace::kAddressBits;
};

// Reads the structure in the table at `index` of Lua's stack. Errors: LuaError, which lists the legal forms.
Layout read_structure(Interpreter& lua, int index, int line_bytes);

// Pushes a table of the fields, as words, of an object at address `base`. The elements of an array, "slot[0]", "slot[1]", ...
// are in a table `slot` with keys from 0, the members of an inner structure, "wait.next", in a table `wait` and under their
// whole names. A union's members, "ptr|bits", are one word. Of a field of more than 8 bytes, the word is its beginning.
void push_fields(lua_State* state, const Layout& layout, Address base);

}  // namespace linebounce::workloads
