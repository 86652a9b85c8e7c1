// A workload's parameters as keys of a configuration: [workload] holds `name` and what the workload declares.
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

// What a configuration may name. The program's own: all_workloads().
struct Catalogue {
  std::span<const WorkloadEntry> workloads;
  std::map<std::string, LuaDeclaration> programs = {};  // of the workload `program`: what each named file declares
};

// "workload.name", whose choices are the workloads.
KeyInfo workload_name_key(const Catalogue& catalogue);

// The declared parameters; null `name` entries are a caller's bug: REQUIRES: the workload exists.
std::vector<KeyInfo> workload_keys(const Catalogue& catalogue, const std::string& name);

// Adds a key for a path that an open parameter of the workload allows, such as "workload.locks.dcache_lock" of replay.
void add_open_key(KeySpace& keys, const Catalogue& catalogue, const std::string& name, const std::string& path);

// The parameter of the workload in "workload.name" that this path sets; null: none does.
const ParameterDeclaration* parameter_at(const Settings& settings, const Catalogue& catalogue, const std::string& path);

// Fills in what `settings` leaves out of the parameters of the workload in "workload.name".
void fill_workload_defaults(Settings& settings, const Catalogue& catalogue, const Origin& origin);

// The typed form of complete settings. Errors: ConfigError for a setting below "workload." that this workload doesn't declare.
Parameters to_parameters(const Settings& settings, const Catalogue& catalogue);

}  // namespace linebounce::sim
