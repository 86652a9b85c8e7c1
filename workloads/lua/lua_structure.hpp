// Structures as programs write them:
//
//   structure { name = "ring", "head:4", { "tail", at = machine.line_bytes }, { "slot", count = 8 }, align = "line" }
//
// and words of simulated memory as Lua has them: an integer whose upper byte says how many bytes, none for 8. A field of a
// structure is its offset in this form, so that address + field is a word, as in C.
#pragma once

#include "models/core/cpu.hpp"
#include "workloads/lua/interpreter.hpp"
#include "workloads/program/address_space.hpp"

namespace linebounce::workloads {

class LuaWord {
 public:
  static lua_Integer pack(Address address, int bytes) {
    Address code = 0;
    while (bytes < 8 && (1 << code) <= bytes) ++code;  // 1 for 1 byte, 2 for 2, 3 for 4
    return static_cast<lua_Integer>(address | code << kShift);
  }
  static Cpu::Word unpack(lua_Integer word) {
    const auto bits = static_cast<Address>(word);
    const Address code = bits >> kShift;
    return {bits & ((Address{1} << kShift) - 1), code == 0 ? 8 : 1 << ((code - 1) & 3)};
  }

 private:
  static constexpr int kShift = 56;
};

// Of the table at `index`. Errors: LuaError, with the legal forms.
Layout read_structure(Interpreter& lua, int index, int line_bytes);

// Pushes a table of the layout's fields as words, from this address on; of "slot[0]", "slot[1]": a table with keys from 0.
void push_fields(lua_State* state, const Layout& layout, Address base);

}  // namespace linebounce::workloads
