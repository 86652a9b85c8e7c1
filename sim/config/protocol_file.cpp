#include "sim/config/protocol_file.hpp"

#include "sim/config/config_error.hpp"
#include "sim/config/project_files.hpp"

namespace linebounce {

Protocol load_protocol(const std::string& name_or_path, const std::string& place) {
  const auto file = find_file(kProtocolFiles, name_or_path, "", place);
  try {
    return parse_protocol(read_text(file), file.string());
  } catch (const ProtocolError& error) {
    throw ConfigError(error.what());
  }
}

}  // namespace linebounce
