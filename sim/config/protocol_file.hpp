// Loads protocols by name.
#pragma once

#include <string>

#include "models/coherence/protocol.hpp"
#include "models/machine/machine_protocols.hpp"
#include "models/machine_spec.hpp"

namespace linebounce::sim {

// Reads models/protocols/NAME.md or a path, and the files that it extends: by name, or by a path from the extending file's
// folder. `place`: where the name was read, for messages; may be empty. Errors: ConfigError.
ProtocolFiles read_protocol_files(const std::string& name_or_path, const std::string& place = "");
// Loads such a protocol; a node's protocol with the partners that it names. Errors: ConfigError.
Protocol load_protocol(const std::string& name_or_path, const std::string& place = "");
// The same from the text of a file; messages call it `file`.
Protocol read_protocol(const std::string& text, const std::string& file);
// The same for a node's protocol between these partners, whatever partners it names. If it does not fit, the error has its
// partners' names and the shipped files that fit.
Protocol load_node_protocol(const std::string& name_or_path, const Protocol& bus, const Protocol& directory,
                            const std::string& place = "");

// The same for a group's protocol, with members and homes of this directory's protocol.
Protocol load_group_protocol(const std::string& name_or_path, const Protocol& directory, const std::string& place = "");

// All protocols that a machine names.
MachineProtocols load_protocols(const MachineSpec& machine);

}  // namespace linebounce::sim
