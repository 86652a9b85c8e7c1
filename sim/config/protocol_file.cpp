#include "sim/config/protocol_file.hpp"

#include "sim/config/project_files.hpp"
#include "sim/point/config_error.hpp"

namespace linebounce::sim {

namespace {

// The file's text through `parse`, whose errors are the user's.
template <class Parse>
Protocol load(const std::string& name_or_path, const std::string& place, Parse parse) {
  const auto file = find_file(kProtocolFiles, name_or_path, "", place);
  try {
    return parse(read_text(file), file.string());
  } catch (const ProtocolError& error) {
    throw ConfigError(error.what());
  }
}

}  // namespace

Protocol load_protocol(const std::string& name_or_path, const std::string& place) {
  return load(name_or_path, place, [](const std::string& text, const std::string& file) {
    const auto partners = partners_of(text);
    if (!partners) return parse_protocol(text, file);
    return parse_node_protocol(text, file, load_protocol(partners->bus, file), load_protocol(partners->directory, file));
  });
}

Protocol load_node_protocol(const std::string& name_or_path, const Protocol& bus, const Protocol& directory,
                            const std::string& place) {
  return load(name_or_path, place, [&](const std::string& text, const std::string& file) {
    return parse_node_protocol(text, file, bus, directory);
  });
}

}  // namespace linebounce::sim
