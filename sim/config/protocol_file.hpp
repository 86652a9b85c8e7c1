// Protocols by name.
#pragma once

#include <string>

#include "models/coherence/protocol.hpp"
#include "models/machine/machine_protocols.hpp"
#include "models/machine_spec.hpp"

namespace linebounce::sim {

// Reads models/protocols/NAME.md or a path, and the files that it extends: by name, or by a path from the folder of the file
// that says so. `place`, if any, is where the name was read, for messages. Errors: ConfigError.
ProtocolFiles read_protocol_files(const std::string& name_or_path, const std::string& place = "");
// Loads such a protocol; a node's with the partners that it names. Errors: ConfigError.
Protocol load_protocol(const std::string& name_or_path, const std::string& place = "");
// The same from the text of such a file, which messages call `file`.
Protocol read_protocol(const std::string& text, const std::string& file);
// The same for a node's protocol between these, whatever partners it names. One that does not fit them is refused with its
// partners' names and the shipped files that do.
Protocol load_node_protocol(const std::string& name_or_path, const Protocol& bus, const Protocol& directory,
                            const std::string& place = "");

// Likewise a group's, with members and homes of this directory's protocol.
Protocol load_group_protocol(const std::string& name_or_path, const Protocol& directory, const std::string& place = "");

// All that a machine names.
MachineProtocols load_protocols(const MachineSpec& machine);

}  // namespace linebounce::sim
