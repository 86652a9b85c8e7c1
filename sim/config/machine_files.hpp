// Reads a machine and its protocols for callers that have no experiment: the library and SystemC's module.
#pragma once

#include <string>

#include "models/machine/machine_protocols.hpp"
#include "models/machine_spec.hpp"

namespace linebounce::sim {

struct MachineFiles {
  MachineSpec spec;
  MachineProtocols protocols;
};

// Reads and checks configs/machines/NAME.toml or a path, and the protocols that it names. `home`: the project's folder for
// this; empty: as usual (project_root()). Errors: ConfigError.
MachineFiles read_machine_files(const std::string& name_or_path, const std::string& home);

}  // namespace linebounce::sim
