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

// True if one of the sweep's lists names machines.
bool sweeps_machine(const toml::table& sweep);

// Removes a path's list from a sweep.
void remove_swept(toml::table& sweep, std::string_view path);

// Whether the value of a --set is a list to sweep: "[1, 2, 4]", or a short form, "1..N" or "*".
bool is_list(std::string_view value);

// Adds lists from the command line to an experiment's [sweep]. Errors: ConfigError for an empty list.
void sweep_lists(toml::table& experiment, const std::vector<std::pair<std::string, std::string>>& lists);

// As anchor_path(), also for the machine's axis: makes a relative path relative to `base`.
ConfigValue anchor_swept(const std::string& path, const ConfigValue& value, const std::filesystem::path& base);

// Reads the axes in the order of the text; the first varies slowest. `tables` has the legal keys, and receives the lists'
// origins. Errors: ConfigError for an unknown path, a wrong value, an empty list, zipped lists of different lengths, or a
// path swept twice.
std::vector<SweepAxis> read_sweep(const toml::table& sweep, ExperimentTables& tables);

// The lists of a sweep, including those of [[sweep.together]], unchecked.
std::vector<Leaf> swept_lists(const toml::table& sweep, const std::string& file);

// The values that a sweep gives to one path. They are not checked yet, because some decide which other keys are legal.
std::vector<Leaf> swept_values(const toml::table& sweep, const std::string& file, const std::string& path);

// Replaces all values of a path by one, as --set does for a swept path.
void pin(std::vector<SweepAxis>& axes, const std::string& path, const ConfigValue& value);

// The [sweep] of a resolved configuration. All axes are elements of `together`, because only a list keeps their order.
toml::table sweep_table(const std::vector<SweepAxis>& axes);

}  // namespace linebounce::sim
