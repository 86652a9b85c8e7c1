// A workload's parameters as keys of the configuration: [workload] has the key `name` and the declared parameters.
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

// The workloads and locks that a configuration may name; those of the program are all_workloads().
struct Catalogue {
  std::span<const WorkloadEntry> workloads;
  // For the workload `program`: the declarations in each program file that the configuration names.
  std::map<std::string, LuaDeclaration> programs = {};
};

// The key "workload.name", whose choices are the workloads.
KeyInfo workload_name_key(const Catalogue& catalogue);

// The keys of the declared parameters. REQUIRES: the workload exists.
std::vector<KeyInfo> workload_keys(const Catalogue& catalogue, const std::string& name);

// Adds a key for a path that one of the workload's open parameters allows, such as "workload.locks.dcache_lock" for replay.
void add_open_key(KeySpace& keys, const Catalogue& catalogue, const std::string& name, const std::string& path);

// The parameter that this path sets in the workload that "workload.name" names; null if there is none.
const ParameterDeclaration* parameter_at(const Settings& settings, const Catalogue& catalogue, const std::string& path);

// Fills in the defaults that `settings` leaves out, for the workload in "workload.name".
void fill_workload_defaults(Settings& settings, const Catalogue& catalogue, const Origin& origin);

// The typed form of complete settings. Errors: ConfigError for a setting below "workload." that this workload doesn't declare.
Parameters to_parameters(const Settings& settings, const Catalogue& catalogue);

}  // namespace linebounce::sim
