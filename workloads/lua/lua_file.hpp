// Lua files as the rest of Linebounce sees them: what the file of a program, lock or counter declares, and the entry of a lock
// or counter for its registry.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "workloads/counters/counter_registry.hpp"
#include "workloads/locks/lock_registry.hpp"
#include "workloads/program/parameters.hpp"
#include "workloads/program/source_file.hpp"

namespace linebounce::workloads {

// What a file declares. Known before the machine exists, because configurations are checked against it.
struct LuaDeclaration {
  std::string title;
  std::string library = {};  // of a lock: what gives it to a user program
  bool program = false;      // true if the file defines run()
  bool ends = false;         // true if the program's CPUs end by themselves
  std::vector<ParameterDeclaration> parameters;
  std::optional<LockTraits> lock;  // set if the file defines acquire() and release()
  CounterUses counter;             // says whether the file defines add() and read(), or get() and put()
};

// Runs the file's text once, without a machine. Errors: LuaError (workloads/lua/lua_error.hpp).
LuaDeclaration declaration_of(const SourceFile& file);

// Returns the entry of the lock in this file, named by the file's path. Errors: LuaError, also if the file defines no lock.
LockEntry lock_entry_of(const SourceFile& file);

// Returns the files of programs/locks, sorted by name. The build compiles their texts in (cmake/lua_locks.cmake), so no file is
// opened.
std::vector<SourceFile> lua_lock_files();

// Returns the entry of the counter in this file. If the file does not define a use's functions, the factory for that use is
// null.
CounterEntry counter_entry_of(const SourceFile& file);

}  // namespace linebounce::workloads
