// An experiment as tables: its own file merged with the experiments that it extends, and its settings with their origins.
// Also makes the resolved configuration for config.toml.
#pragma once

#include <toml++/toml.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sim/config/layout_changes.hpp"
#include "sim/config/machine_tables.hpp"
#include "sim/config/workload_keys.hpp"

namespace linebounce::sim {

struct ExperimentTables {
  std::string file;
  Catalogue catalogue;
  MachineTables machine;
  KeySpace keys;  // the keys of machine.*, workload.*, run.*, engine.*
  // Every setting except swept ones. Of several values for a path, the last of these counts: the machine's file or [machine],
  // [set], --set.
  Settings settings;
  std::vector<LayoutChange> layout_changes;
  OptionNames options;                  // Overrides::options
  std::map<std::string, Origin> swept;  // from a swept path to the position of its list
  // One copy of the experiment per swept machine, by the machine's name or path. Empty if `machine` is not swept.
  std::map<std::string, std::shared_ptr<const ExperimentTables>> machines;
};

// Parses an experiment's text, merges it with the experiments that it extends, and removes `extends`. Each node keeps the
// position in the file that defines it. `file`: the text's own file. Errors: ConfigError, also if experiments extend each
// other in a cycle.
toml::table read_experiment_table(const std::string& text, const std::filesystem::path& file);

// Returns [machine] with its sources, [placement], [workload] and [run]. The source of a value that overrides the machine
// file's says so.
toml::table resolved_settings(const Settings& settings, const MachineTables& machine);

// Adds [[layout.change]] if there are any changes.
void add_layout_changes(toml::table& resolved, const std::vector<LayoutChange>& changes);

}  // namespace linebounce::sim
