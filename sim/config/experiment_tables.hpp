// An experiment as tables: its own file's and those of the experiments that it extends; its settings with their origins before
// points are made; and the resolved configuration of config.toml.
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
  std::map<std::string, Origin> swept;  // by swept path: the origin of its list
  // If `machine` itself is swept: by name or path, the same experiment on that machine.
  std::map<std::string, std::shared_ptr<const ExperimentTables>> machines;
};

// The table of an experiment's text, merged with that of the experiment that it extends. `extends` is removed, and every key
// knows the file that it comes from. `file`: the origin of the text. Errors: ConfigError, also for a cycle.
toml::table read_experiment_table(const std::string& text, const std::filesystem::path& file);

// [machine] with its sources, [placement], [workload] and [run]. The sources of a value that overrides its machine file's say
// so.
toml::table resolved_settings(const Settings& settings, const MachineTables& machine);

// Adds [[layout.change]] if there are any changes.
void add_layout_changes(toml::table& resolved, const std::vector<LayoutChange>& changes);

}  // namespace linebounce::sim
