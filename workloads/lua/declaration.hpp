// Reads what a Lua file declares in globals and tables.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "workloads/locks/lock_traits.hpp"
#include "workloads/lua/interpreter.hpp"
#include "workloads/lua/lua_file.hpp"

namespace linebounce::workloads {

// True if a parameter, tally or series may have this name: small letters, digits and _, and no key of experiment files.
bool is_parameter_name(const std::string& name);

// Returns the names in the global list `tallies`. REQUIRES: the interpreter has loaded its file. Errors: LuaError.
std::vector<std::string> read_tallies(Interpreter& lua);
// Reads the titles and traits of locks that ship with Linebounce. It runs only the head of each file, up to the first blank
// line, because compiling the functions as well would take a sixth of a short command's time.
std::vector<LuaDeclaration> read_heads(std::span<const SourceFile> locks);
// Reads the traits of a program's own lock, a table { acquire =, release =, fifo =, ... } at `index` of Lua's stack. Errors:
// LuaError.
LockTraits read_own_traits(Interpreter& lua, int index);

}  // namespace linebounce::workloads
