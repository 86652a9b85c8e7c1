// An experiment as tables: as its file and those that it extends state it, its settings with their places before they are put
// together to points, and the resolved configuration, as config.toml holds it.
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
  KeySpace keys;      // machine.*, workload.*, run.*, engine.*
  Settings settings;  // complete but for the sweep: machine file or [machine], then [set], then --set
  std::vector<LayoutChange> layout_changes;
  std::map<std::string, Origin> swept;  // by swept path: where its list stands
  // Where `machine` itself is swept: by name or path, the same experiment on that machine.
  std::map<std::string, std::shared_ptr<const ExperimentTables>> machines;
};

// The table of an experiment's text, laid over that of the experiment that it extends, if it does: without `extends`, every key
// with its place in the file that it comes from. `file` is where the text is from. Errors: ConfigError, also for a circle.
toml::table read_experiment_table(const std::string& text, const std::filesystem::path& file);

// [machine] with its sources, [placement], [workload] and [run]. A value that overrides its machine file's says so in the
// sources.
toml::table resolved_settings(const Settings& settings, const MachineTables& machine);

// [[layout.change]], if there is any.
void add_layout_changes(toml::table& resolved, const std::vector<LayoutChange>& changes);

}  // namespace linebounce::sim
