// Reads a machine and its protocols without an experiment, for the library and the SystemC module.
#pragma once

#include <string>

#include "models/machine/machine_protocols.hpp"
#include "models/machine_spec.hpp"

namespace linebounce::sim {

struct MachineFiles {
  MachineSpec spec;
  MachineProtocols protocols;
};

// Reads and checks a machine (configs/machines/NAME.toml or a path) and the protocols that it names. `home`: the project's
// folder; if empty, project_root() finds it. Errors: ConfigError.
MachineFiles read_machine_files(const std::string& name_or_path, const std::string& home);

}  // namespace linebounce::sim
