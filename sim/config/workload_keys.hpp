// Makes keys of the configuration from a workload's parameters. [workload] has the key `name` and the declared parameters.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "sim/config/settings.hpp"
#include "workloads/lua/lua_file.hpp"
#include "workloads/workload_registry.hpp"

namespace linebounce::sim {

using namespace workloads;

// The workloads and locks that a configuration may name. The program's own are in all_workloads() and all_locks().
struct Catalogue {
  std::span<const WorkloadEntry> workloads;
  // For the workload `program`: what each program file in the configuration declares, by file.
  std::map<std::string, LuaDeclaration> programs = {};
};

// The key "workload.name". Its legal values are the catalogue's workloads.
KeyInfo workload_name_key(const Catalogue& catalogue);

// The keys of the workload's declared parameters. REQUIRES: the workload exists.
std::vector<KeyInfo> workload_keys(const Catalogue& catalogue, const std::string& name);

// Adds a key for `path` if an open parameter of the workload allows it, such as "workload.locks.dcache_lock" for replay.
void add_open_key(KeySpace& keys, const Catalogue& catalogue, const std::string& name, const std::string& path);

// Returns the parameter at this path, in the workload that "workload.name" names; null if there is none.
const ParameterDeclaration* parameter_at(const Settings& settings, const Catalogue& catalogue, const std::string& path);

// Sets the parameters that `settings` lacks to their defaults, for the workload in "workload.name".
void fill_workload_defaults(Settings& settings, const Catalogue& catalogue, const Origin& origin);

// Converts complete settings to their typed form. Errors: ConfigError for a setting below "workload." that this workload
// doesn't declare.
Parameters to_parameters(const Settings& settings, const Catalogue& catalogue);

}  // namespace linebounce::sim
