// What the rest of the program sees of a program, lock or counter in Lua: what its file says of itself, and an entry for the
// table of locks or counters.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "workloads/counters/counter_registry.hpp"
#include "workloads/locks/lock_registry.hpp"
#include "workloads/program/parameters.hpp"
#include "workloads/program/source_file.hpp"

namespace linebounce::workloads {

// Known before there is a machine, as configuration is checked by it.
struct LuaDeclaration {
  std::string title;
  bool program = false;  // it defines run()
  bool ends = false;     // its programs end by themselves
  std::vector<ParameterDeclaration> parameters;
  std::optional<LockTraits> lock;  // it defines acquire() and release()
  CounterUses counter;             // it defines add() and read(), or get() and put()
};

// Runs the file's text once, without a machine. Errors: LuaError (workloads/lua/lua_error.hpp).
LuaDeclaration declaration_of(const SourceFile& file);

// A lock's file: its path, title, traits, and how one is made. Errors: LuaError, also where it is no lock.
LockEntry lock_entry_of(const SourceFile& file);

// programs/locks, as it was when the program was built (cmake/lua_locks.cmake): no file is opened. Sorted by name.
std::vector<SourceFile> lua_lock_files();

// The same of a counter. A factory is null where the file does not define the use.
CounterEntry counter_entry_of(const SourceFile& file);

}  // namespace linebounce::workloads
