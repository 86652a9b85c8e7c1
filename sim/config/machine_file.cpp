#include "sim/config/machine_file.hpp"

#include "sim/config/machine_tables.hpp"
#include "sim/config/project_files.hpp"

namespace linebounce::sim {
namespace {

DescribedMachine described_machine(MachineTables tables) {
  DescribedMachine described;
  described.spec = to_typed(tables.settings, tables.parts).machine;
  check_machine(described.spec, tables.settings);
  // Shows the effective line size. In the file, 0 means that of the outermost cache.
  tables.settings.at("machine.bus.line_bytes").value = std::int64_t{described.spec.bus.line_bytes};
  for (const auto& key : tables.keys.keys()) {
    if (key.structural || !is_shown(key, tables.settings)) continue;
    const std::string* source = source_of(tables.sources, key.path);
    described.parameters.push_back({key.path, plain_text(tables.settings.at(key.path).value), key.unit, key.meaning,
                                    source ? *source : "assumed (no source given)", source != nullptr,
                                    tables.settings.at(key.path).from});
  }
  described.history = tables.history;
  described.assumptions = assumptions_of(tables.settings, tables.sources);
  return described;
}

}  // namespace

DescribedMachine load_machine(const std::string& name_or_path) {
  return described_machine(read_machine_file(name_or_path, "", ""));
}

DescribedMachine read_machine(const std::string& text, const std::string& file) {
  return described_machine(read_machine_text(text, file));
}

std::vector<std::string> machine_names() {
  return file_names(kMachineFiles);
}

}  // namespace linebounce::sim
