#include "sim/config/protocol_file.hpp"

#include "sim/config/config_error.hpp"
#include "sim/config/project_files.hpp"

namespace linebounce {

Protocol load_protocol(const std::string& name_or_path, const std::string& place) {
  const auto file = find_file(kProtocolFiles, name_or_path, "", place);
  const std::string text = read_text(file);
  try {
    const auto partners = partners_of(text);
    if (!partners) return parse_protocol(text, file.string());
    return parse_node_protocol(text, file.string(), load_protocol(partners->bus, file.string()),
                               load_protocol(partners->directory, file.string()));
  } catch (const ProtocolError& error) {
    throw ConfigError(error.what());
  }
}

}  // namespace linebounce
