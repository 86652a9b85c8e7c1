// The keys of all parameters of machines, runs and the engine, as the bind() of their specs declares them
// (models/machine_spec.hpp, RunSpec). Configurations are read, checked, written and described by these keys.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "models/machine_spec.hpp"
#include "sim/config/settings.hpp"
#include "sim/point/simulation_input.hpp"

namespace linebounce::sim {

// The parts of a configuration that have a fixed set of keys.
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
  std::vector<std::string> groups = {};    // the level nearest to the cores first
  std::vector<std::string> memories = {};  // sorted by their node
};

// The keys of all parameters of a machine with these parts, in the order of presentation. `below`: keeps only paths that
// begin with one of these.
std::vector<KeyInfo> schema_keys(const PartNames& parts, std::initializer_list<std::string_view> below = {});

// True if a parameter can have an effect: the parameter that it needs has a value other than its default.
bool has_effect(const KeyInfo& key, const Settings& settings);
// True if lists and resolved configurations show the parameter. They leave out a parameter without effect that has its
// default.
bool is_shown(const KeyInfo& key, const Settings& settings);

// Fills in the defaults that `settings` leaves out below `prefix` ("machine." or ""). `origin`: for the message about a missing
// required key. Errors: ConfigError.
void fill_defaults(Settings& settings, const PartNames& parts, std::string_view prefix, const Origin& origin);

// Converts complete settings to their typed form. Errors: ConfigError, such as for a clock that is not a simple fraction.
TypedConfiguration to_typed(const Settings& settings, const PartNames& parts);

}  // namespace linebounce::sim
