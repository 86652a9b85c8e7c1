// Programs, locks and counters in Lua, and locks in C, as files that a configuration names.
#pragma once

#include <string>
#include <string_view>

#include "sim/config/experiment.hpp"
#include "sim/config/settings.hpp"
#include "workloads/lua/lua_file.hpp"

namespace linebounce::sim {

inline constexpr const char* kProgramKey = "workload.program";

// True if the value names a file in Lua, judging by its suffix.
bool is_lua_path(std::string_view text);
// True if the value names a file in Lua or C, judging by its suffix.
bool is_source_path(std::string_view text);

struct LuaFile {
  SourceFile source;
  LuaDeclaration declared;
};

// Reads a file and its declarations. A lock in C is compiled and loaded, so code of the file may run. Call this only for
// files that the user has named, or has permitted with --native. Errors: ConfigError. If a setting named the file, pass the
// setting's `origin` and `path`; messages then begin with them.
LuaFile load_lua_file(const std::string& file);
LuaFile load_lua_file(const std::string& file, const Origin& origin, std::string_view path);

// Makes an entry of the lock registry from a lock's file. The entry's name is `file`. Errors: ConfigError, also if the file
// does not define a lock.
LockEntry load_lock_file(const std::string& file);

// Finds a lock by the name that a user gave: a file, or one of all_locks(). Errors: ConfigError, with the legal names.
LockEntry lock_called(const std::string& name);

// The experiment for `linebounce run FILE.lua`. A program runs as a workload of its own. A lock runs in the workload of
// lock_scaling, a counter in that of counter_scaling. Errors: ConfigError, also if `overrides` names no machine.
Experiment lua_experiment(const std::string& file, const Overrides& overrides);

// Loads what the user wants to run: an experiment (by name or file, unexpanded), or a program, lock or counter in Lua.
// Errors: ConfigError.
Experiment load_runnable(const std::string& name_or_path, const Overrides& overrides);

}  // namespace linebounce::sim
