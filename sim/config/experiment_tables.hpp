// An experiment as tables: its own file merged with the experiments that it extends, its settings with their origins, and the
// resolved configuration for config.toml.
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
  KeySpace keys;      // the keys of machine.*, workload.*, run.*, engine.*
  Settings settings;  // complete except for the sweep: machine file or [machine], then [set], then --set
  std::vector<LayoutChange> layout_changes;
  std::map<std::string, Origin> swept;  // keys: swept paths; values: where their lists were written
  // If `machine` is swept: for each machine's name or path, the experiment on that machine.
  std::map<std::string, std::shared_ptr<const ExperimentTables>> machines;
};

// Parses an experiment's text and merges it with the experiment that it extends. Removes `extends`. Each key remembers the
// file that it comes from. `file`: the origin of the text. Errors: ConfigError, also for a cycle.
toml::table read_experiment_table(const std::string& text, const std::filesystem::path& file);

// [machine] with its sources, [placement], [workload] and [run]. If a value overrides the machine file's, its source says so.
toml::table resolved_settings(const Settings& settings, const MachineTables& machine);

// Adds [[layout.change]] if there are any changes.
void add_layout_changes(toml::table& resolved, const std::vector<LayoutChange>& changes);

}  // namespace linebounce::sim
