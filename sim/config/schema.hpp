// The keys of all parameters of machines, runs and the engine. They come from bind() of the specs (models/machine_spec.hpp,
// RunSpec). All code that reads, checks, writes or describes configurations uses these keys.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "models/machine_spec.hpp"
#include "sim/config/settings.hpp"
#include "sim/point/simulation_input.hpp"

namespace linebounce::sim {

// The parts of a configuration whose keys don't depend on the workload.
struct TypedConfiguration {
  MachineSpec machine;
  RunSpec run;
  int seeds = 1;
  EngineSpec engine;

  void bind(SpecBinder& keys);
};

// The names that a machine gives to its parts.
struct PartNames {
  std::vector<std::string> caches = {};    // nearest to the core first
  std::vector<std::string> links = {};     // sorted by their nodes
  std::vector<std::string> pairs = {};     // sorted by their nodes
  std::vector<std::string> groups = {};    // nearest to the cores first
  std::vector<std::string> memories = {};  // sorted by their node
};

// The keys of all parameters of a machine with these parts, in the order of presentation. `below`: keeps only paths that
// begin with one of these; empty: keeps all.
std::vector<KeyInfo> schema_keys(const PartNames& parts, std::initializer_list<std::string_view> below = {});

// True if a parameter has an effect. It has none while the parameter that it needs (KeyInfo::needs) is at its default.
bool has_effect(const KeyInfo& key, const Settings& settings);
// True if lists and resolved configurations show the parameter. They leave it out if it has no effect and is at its default.
bool is_shown(const KeyInfo& key, const Settings& settings);

// Sets all parameters below `prefix` ("machine." or "") that `settings` lacks to their defaults. `origin`: the position to
// report if a required key is missing. Errors: ConfigError.
void fill_defaults(Settings& settings, const PartNames& parts, std::string_view prefix, const Origin& origin);

// Converts complete settings to their typed form. Errors: ConfigError for a value that the type can't hold, such as a clock
// that is not a simple fraction.
TypedConfiguration to_typed(const Settings& settings, const PartNames& parts);

}  // namespace linebounce::sim
