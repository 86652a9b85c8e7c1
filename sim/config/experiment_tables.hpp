// An experiment's settings with their places, before they are put together to points.
#pragma once

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

}  // namespace linebounce::sim
