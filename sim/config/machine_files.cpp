#include "sim/config/machine_files.hpp"

#include "sim/config/machine_tables.hpp"
#include "sim/config/project_files.hpp"
#include "sim/config/protocol_file.hpp"
#include "sim/config/schema.hpp"

namespace linebounce::sim {

MachineFiles read_machine_files(const std::string& name_or_path, const std::string& home) {
  const ProjectHome here(home);
  const MachineTables tables = read_machine_file(name_or_path, "", "");
  MachineSpec spec = to_typed(tables.settings, tables.parts).machine;
  check_machine(spec, tables.settings);
  return {spec, load_protocols(spec)};
}

}  // namespace linebounce::sim
