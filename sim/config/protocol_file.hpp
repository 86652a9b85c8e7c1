// Loads protocols by name.
#pragma once

#include <string>

#include "models/coherence/protocol.hpp"
#include "models/machine/machine_protocols.hpp"
#include "models/machine_spec.hpp"

namespace linebounce::sim {

// Reads models/protocols/NAME.md or a path, and all files that it extends. It names these by name, or by a path relative to
// itself. `place`: the position of the setting with the name, for messages; may be empty. Errors: ConfigError.
ProtocolFiles read_protocol_files(const std::string& name_or_path, const std::string& place = "");
// Loads a protocol. A node's protocol is loaded with the partners that its file names. Errors: ConfigError.
Protocol load_protocol(const std::string& name_or_path, const std::string& place = "");
// Like load_protocol(), but from the text of a file. `file`: the text's name in messages.
Protocol read_protocol(const std::string& text, const std::string& file);
// Loads a node's protocol with these partners, even if its file names others. Errors: ConfigError; if the partners don't fit,
// it names those in the file, and the shipped protocols that fit.
Protocol load_node_protocol(const std::string& name_or_path, const Protocol& bus, const Protocol& directory,
                            const std::string& place = "");

// Loads a group's protocol. `directory`: the protocol of the group's members and of the homes.
Protocol load_group_protocol(const std::string& name_or_path, const Protocol& directory, const std::string& place = "");

// Loads all protocols that a machine names.
MachineProtocols load_protocols(const MachineSpec& machine);

}  // namespace linebounce::sim
