// The parameters that an experiment varies: [sweep] and [[sweep.together]].
#pragma once

#include <toml++/toml.h>

#include <string_view>
#include <vector>

#include "sim/config/experiment.hpp"
#include "sim/config/experiment_tables.hpp"

namespace linebounce::sim {

// Sweeps can vary the machine as a whole: [sweep] machine = ["NAME", "PATH.toml"].
inline constexpr std::string_view kMachineAxis = "machine";
KeyInfo machine_axis_key();

// Whether one of a sweep's lists names machines.
bool sweeps_machine(const toml::table& sweep);

// Removes a path's list from a sweep.
void remove_swept(toml::table& sweep, std::string_view path);

// Whether the value of a --set is a list to sweep: "[1, 2, 4]", or a short form, "1..N" or "*".
bool is_list(std::string_view value);

// Adds the lists of the command line to an experiment's [sweep]. Errors: ConfigError for an empty list.
void sweep_lists(toml::table& experiment, const std::vector<std::pair<std::string, std::string>>& lists);

// Makes a relative path in the value of a protocol's key or of the machine's axis relative to `base`.
ConfigValue anchor_swept(const std::string& path, const ConfigValue& value, const std::filesystem::path& base);

// The axes, in the order of the text; the first varies slowest. `tables` supplies the legal keys and receives the origins of
// the lists. Errors: ConfigError for an unknown path, a wrong value, an empty list, zipped lists of different lengths, a path
// swept twice.
std::vector<SweepAxis> read_sweep(const toml::table& sweep, ExperimentTables& tables);

// The lists of a sweep, including those of [[sweep.together]], unchecked.
std::vector<Leaf> swept_lists(const toml::table& sweep, const std::string& file);

// The values that a sweep gives to one path, unchecked, because some decide which other keys are legal.
std::vector<Leaf> swept_values(const toml::table& sweep, const std::string& file, const std::string& path);

// Replaces all values of a path by one: the effect of --set on a swept path.
void pin(std::vector<SweepAxis>& axes, const std::string& path, const ConfigValue& value);

// The [sweep] of a resolved configuration. Every axis is an element of `together`, because a list keeps the order of the axes.
toml::table sweep_table(const std::vector<SweepAxis>& axes);

}  // namespace linebounce::sim
