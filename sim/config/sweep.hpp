// Reads the parameters that an experiment varies: [sweep] and [[sweep.together]].
#pragma once

#include <toml++/toml.h>

#include <string_view>
#include <vector>

#include "sim/config/experiment.hpp"
#include "sim/config/experiment_tables.hpp"

namespace linebounce::sim {

// The axis that varies the whole machine: [sweep] machine = ["NAME", "PATH.toml"].
inline constexpr std::string_view kMachineAxis = "machine";
KeyInfo machine_axis_key();

// True if the sweep varies the machine.
bool sweeps_machine(const toml::table& sweep);

// Removes a path's list from a sweep.
void remove_swept(toml::table& sweep, std::string_view path);

// True if the value of a --set is a list to sweep: "[1, 2, 4]", or the short forms "1..N" and "*".
bool is_list(std::string_view value);

// Adds lists from the command line to the experiment's [sweep], in place of its own lists for these paths. Errors:
// ConfigError for an empty list.
void sweep_lists(toml::table& experiment, const std::vector<std::pair<std::string, std::string>>& lists);

// Like anchor_path(), but also makes a path of a swept machine relative to `base`.
ConfigValue anchor_swept(const std::string& path, const ConfigValue& value, const std::filesystem::path& base);

// Reads the axes in the order of the text; the first varies slowest. `tables`: contains the legal keys, and receives the
// lists' origins. Errors: ConfigError for an unknown path, an illegal value, an empty list, zipped lists of different
// lengths, or a path swept twice.
std::vector<SweepAxis> read_sweep(const toml::table& sweep, ExperimentTables& tables);

// Returns the lists of a sweep, including those of [[sweep.together]]. They are not checked.
std::vector<Leaf> swept_lists(const toml::table& sweep, const std::string& file);

// Returns the values that a sweep gives to a path. They are not checked, because some of them decide which other keys are
// legal.
std::vector<Leaf> swept_values(const toml::table& sweep, const std::string& file, const std::string& path);

// Replaces all swept values of a path by one value, as --set does.
void pin(std::vector<SweepAxis>& axes, const std::string& path, const ConfigValue& value);

// The axes as [sweep] of a resolved configuration. All are elements of [[sweep.together]], because only a list keeps their
// order.
toml::table sweep_table(const std::vector<SweepAxis>& axes);

}  // namespace linebounce::sim
