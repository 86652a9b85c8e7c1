// The keys of every parameter of a machine, of a run and of the engine, as the specs' bind() declares them
// (models/machine_spec.hpp, RunSpec). Reading, checking, writing, describing and suggesting all use them.
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

// The keys of all parameters for a machine with these parts, in the order of lists; or only those whose paths begin with one of
// `below`.
std::vector<KeyInfo> schema_keys(const PartNames& parts, std::initializer_list<std::string_view> below = {});

// Whether a parameter can have an effect, given the parameter that it needs.
bool has_effect(const KeyInfo& key, const Settings& settings);
// Whether lists and resolved configurations show the parameter: all but the default of a parameter without effect.
bool is_shown(const KeyInfo& key, const Settings& settings);

// Fills in the defaults that `settings` leaves out below `prefix` ("machine." or ""). `origin`: for the message about a missing
// required key. Errors: ConfigError.
void fill_defaults(Settings& settings, const PartNames& parts, std::string_view prefix, const Origin& origin);

// The typed form of complete settings. Errors: ConfigError (a frequency that is no simple fraction).
TypedConfiguration to_typed(const Settings& settings, const PartNames& parts);

}  // namespace linebounce::sim
