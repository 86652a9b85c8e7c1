// Loads protocols by name.
#pragma once

#include <string>

#include "models/coherence/protocol.hpp"
#include "models/machine/machine_protocols.hpp"
#include "models/machine_spec.hpp"

namespace linebounce::sim {

// Reads models/protocols/NAME.md or a path, and all files that it extends. These are given by name, or by a path relative to
// the extending file. `place`: where the name was read, for messages; may be empty. Errors: ConfigError.
ProtocolFiles read_protocol_files(const std::string& name_or_path, const std::string& place = "");
// Loads a protocol; for a node's protocol also the partners that its file names. Errors: ConfigError.
Protocol load_protocol(const std::string& name_or_path, const std::string& place = "");
// The same from the text of a file; messages call it `file`.
Protocol read_protocol(const std::string& text, const std::string& file);
// Loads a node's protocol for these partners, whatever partners its file names. If it does not fit them, the error names its
// own partners and the shipped files that fit.
Protocol load_node_protocol(const std::string& name_or_path, const Protocol& bus, const Protocol& directory,
                            const std::string& place = "");

// Loads a group's protocol for members and homes that use this directory protocol.
Protocol load_group_protocol(const std::string& name_or_path, const Protocol& directory, const std::string& place = "");

// All protocols that a machine names.
MachineProtocols load_protocols(const MachineSpec& machine);

}  // namespace linebounce::sim
