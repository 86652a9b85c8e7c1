// Every parameter of a machine, of a run and of the engine, once: its path, unit, legal values, meaning and the member that it
// sets. Reading, checking, writing, describing and suggesting all come from this table. Defaults are the members' initialisers
// in models/machine_spec.hpp and sim/simulation/simulate.hpp.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "models/machine_spec.hpp"
#include "sim/config/settings.hpp"
#include "sim/simulation/simulate.hpp"

namespace linebounce {

// What the table fills: everything that has a fixed set of keys.
struct TypedConfiguration {
  MachineSpec machine;
  RunSpec run;
  int seeds = 1;
  EngineSpec engine;
};

using Target = std::variant<int*, double*, bool*, std::string*, Frequency*, Replacement*, Consistency*, CpuOrder*>;

struct Parameter {
  std::string_view path;  // "machine.cache.*.ways": one for each cache
  std::string_view unit;
  Target (*locate)(TypedConfiguration& configuration, std::size_t cache);
  bool required;
  double minimum, maximum;  // numbers only
  std::string_view meaning;
  bool structural = false;  // KeyInfo::structural
};

// In the order of listings.
const std::vector<Parameter>& schema();

// The keys of all parameters for a machine with these caches.
std::vector<KeyInfo> schema_keys(const std::vector<std::string>& cache_levels);

// Fills in the defaults of what `settings` leaves out below `prefix` ("machine." or ""). `origin` is for the message about a
// required key that is missing: ConfigError.
void fill_defaults(Settings& settings, const std::vector<std::string>& cache_levels, std::string_view prefix,
                   const Origin& origin);

// The typed form of complete settings. Errors: ConfigError (a frequency that is no simple fraction).
TypedConfiguration to_typed(const Settings& settings, const std::vector<std::string>& cache_levels);

}  // namespace linebounce
