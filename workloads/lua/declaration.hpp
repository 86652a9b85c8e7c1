// Reads what a loaded file declares in globals and tables.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "workloads/locks/lock_traits.hpp"
#include "workloads/lua/interpreter.hpp"
#include "workloads/lua/lua_file.hpp"

namespace linebounce::workloads {

// What parameters, tallies and series may be called: small letters, digits and _, and not what an experiment's file uses.
bool is_parameter_name(const std::string& name);

// Of an interpreter that has loaded its file: what it counts. Errors: LuaError.
std::vector<std::string> read_tallies(Interpreter& lua);
// Of locks that ship: title and traits stand in their heads, up to the first blank line. To compile their functions, too, would
// be a sixth of a short command.
std::vector<LuaDeclaration> read_heads(std::span<const SourceFile> locks);
// Of a table { acquire =, release =, fifo =, ... } in a program, at `index` of Lua's stack. Errors: LuaError.
LockTraits read_own_traits(Interpreter& lua, int index);

}  // namespace linebounce::workloads
