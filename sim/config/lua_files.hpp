// Programs, locks and counters in Lua, and locks in C, as files that a configuration names.
#pragma once

#include <string>
#include <string_view>

#include "sim/config/experiment.hpp"
#include "sim/config/settings.hpp"
#include "workloads/lua/lua_file.hpp"

namespace linebounce::sim {

inline constexpr const char* kProgramKey = "workload.program";

// Whether a value names such a file, judging by its suffix.
bool is_lua_path(std::string_view text);
// The same for a file of either language.
bool is_source_path(std::string_view text);

struct LuaFile {
  SourceFile source;
  LuaDeclaration declared;
};

// Reads a file with its declarations. A lock in C is compiled and loaded, so its code may run: only what the user has named, or
// has allowed with --native, may come here. Errors: ConfigError; for a setting's file, the message begins with the setting's
// position and path.
LuaFile load_lua_file(const std::string& file);
LuaFile load_lua_file(const std::string& file, const Origin& origin, std::string_view path);

// A lock's file as an entry of the lock registry, under this name. Errors: ConfigError, also if the file is no lock.
LockEntry load_lock_file(const std::string& file);

// The same, or one of all_locks(), by the user's name for it. Errors: ConfigError, with the legal names.
LockEntry lock_called(const std::string& name);

// The experiment that `linebounce run FILE.lua` runs: a program as it is, a lock under the workload critical_section, a counter
// under counter_scaling. Errors: ConfigError.
Experiment lua_experiment(const std::string& file, const Overrides& overrides);

// Loads what a user runs: an experiment's name or file, unexpanded, or a program, lock or counter in Lua. Errors: ConfigError.
Experiment load_runnable(const std::string& name_or_path, const Overrides& overrides);

}  // namespace linebounce::sim
