// Every parameter of a machine, of a run and of the engine, once: its path, unit, legal values, meaning and the member that it
// sets. Reading, checking, writing, describing and suggesting all come from this table. Defaults are the members' initialisers
// in models/machine_spec.hpp and sim/point/simulation_input.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "models/machine_spec.hpp"
#include "sim/config/settings.hpp"
#include "sim/point/simulation_input.hpp"

namespace linebounce::sim {

// In the order of Consistency.
inline constexpr std::array<std::string_view, 3> kConsistencyNames = {"sc", "tso", "ia64"};

// What the table fills: everything that has a fixed set of keys.
struct TypedConfiguration {
  MachineSpec machine;
  RunSpec run;
  int seeds = 1;
  EngineSpec engine;
};

using Target = std::variant<int*, double*, bool*, std::string*, Frequency*, Replacement*, Consistency*, CpuOrder*,
                            PairPrefetch*, Placement*, Topology*, SliceTopology*>;

// What a parameter is part of, where that matters: KeyInfo::structural and KeyInfo::needs.
enum class PartOf : std::uint8_t { any, structure, nodes, pages, code };

struct Parameter {
  std::string_view path;  // "machine.cache.*.ways": one for each cache; likewise links, pairs, memories of nodes
  std::string_view unit;
  Target (*locate)(TypedConfiguration& configuration, std::size_t part);  // which of the caches, links, ...
  bool required;
  double minimum, maximum;  // numbers only
  std::string_view meaning;
  PartOf part_of = PartOf::any;
};

// The names that a machine gives to its parts.
struct PartNames {
  std::vector<std::string> caches = {};    // the nearest to the core first
  std::vector<std::string> links = {};     // by their nodes
  std::vector<std::string> pairs = {};     // likewise
  std::vector<std::string> groups = {};    // the level nearest to the cores first
  std::vector<std::string> memories = {};  // by their node
};

// In the order of listings.
const std::vector<Parameter>& schema();

// The keys of all parameters for a machine with these parts.
std::vector<KeyInfo> schema_keys(const PartNames& parts);

// Whether a parameter can have an effect, by the one that it needs. / Whether a listing or a resolved configuration shows it:
// not the default of one that has none.
bool has_effect(const KeyInfo& key, const Settings& settings);
bool is_shown(const KeyInfo& key, const Settings& settings);

// "crossbar", "ring": as files have it.
std::string_view word_of(Topology topology);

// "local", "first_touch", "interleaved"; nothing for any other word.
std::optional<Placement> to_placement_policy(std::string_view word);

// Fills in the defaults of what `settings` leaves out below `prefix` ("machine." or ""). `origin` is for the message about a
// required key that is missing: ConfigError.
void fill_defaults(Settings& settings, const PartNames& parts, std::string_view prefix, const Origin& origin);

// The typed form of complete settings. Errors: ConfigError (a frequency that is no simple fraction).
TypedConfiguration to_typed(const Settings& settings, const PartNames& parts);

}  // namespace linebounce::sim
