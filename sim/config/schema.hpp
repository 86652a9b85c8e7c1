// The keys of every parameter of a machine, of a run and of the engine, as the specs' bind() declare them
// (models/machine_spec.hpp, RunSpec). Reading, checking, writing, describing and suggesting all come from them.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "models/machine_spec.hpp"
#include "sim/config/settings.hpp"
#include "sim/point/simulation_input.hpp"

namespace linebounce::sim {

// Everything that has a fixed set of keys.
struct TypedConfiguration {
  MachineSpec machine;
  RunSpec run;
  int seeds = 1;
  EngineSpec engine;

  void bind(SpecBinder& keys);
};

// The names that a machine gives to its parts.
struct PartNames {
  std::vector<std::string> caches = {};    // the nearest to the core first
  std::vector<std::string> links = {};     // by their nodes
  std::vector<std::string> pairs = {};     // likewise
  std::vector<std::string> groups = {};    // the level nearest to the cores first
  std::vector<std::string> memories = {};  // by their node
};

// The keys of all parameters for a machine with these parts, in the order of listings; or only those whose paths begin with one
// of `below`.
std::vector<KeyInfo> schema_keys(const PartNames& parts, std::initializer_list<std::string_view> below = {});

// Whether a parameter can have an effect, by the one that it needs. / Whether a listing or a resolved configuration shows it:
// not the default of one that has none.
bool has_effect(const KeyInfo& key, const Settings& settings);
bool is_shown(const KeyInfo& key, const Settings& settings);

// Fills in the defaults of what `settings` leaves out below `prefix` ("machine." or ""). `origin` is for the message about a
// required key that is missing: ConfigError.
void fill_defaults(Settings& settings, const PartNames& parts, std::string_view prefix, const Origin& origin);

// The typed form of complete settings. Errors: ConfigError (a frequency that is no simple fraction).
TypedConfiguration to_typed(const Settings& settings, const PartNames& parts);

}  // namespace linebounce::sim
