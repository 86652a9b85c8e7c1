// The shipped protocol files.
#pragma once

#include <array>
#include <fstream>
#include <sstream>
#include <string>

#include "models/coherence/protocol.hpp"

namespace linebounce::test {

// The files in models/protocols: bus protocols and the others. A test checks that none is missing.
inline constexpr std::array kShippedProtocols = {"msi_snoop",      "mesi_snoop",          "mesi_snoop_upgrade_retry",
                                                 "mesif_snoop",    "moesi_snoop",         "dragon_snoop",
                                                 "mesi_far_snoop", "mesi_migratory_snoop"};
inline constexpr std::array kAtomicProtocols = {"msi_atomic",           "mesi_atomic",
                                                "mosi_atomic",          "moesi_atomic",
                                                "moesif_atomic",        "dragon_atomic",
                                                "firefly_atomic",       "illinois_atomic",
                                                "write_through_atomic", "write_through_allocate_atomic",
                                                "mesi_snarfing_atomic", "dragon_competitive_atomic",
                                                "msi_rdx_atomic",       "mesi_rdx_atomic"};
inline constexpr std::array kShippedDirectories = {"mesi_directory",
                                                   "moesi_directory"};  // those with caches directly on the network
inline constexpr std::array kShippedNodes = {"mesi_node",     "mesi_node_tags",       "moesi_node",
                                             "mesif_node",    "moesi_broadcast_node", "moesi_node_filter",
                                             "mesi_node_far", "mesif_broadcast_node", "mesi_migratory_node"};
inline constexpr std::array kShippedGroups = {"mesi_group", "mesi_group_non_inclusive", "mesi_group_exclusive", "moesi_group"};
inline constexpr std::array kShippedHomes = {"mesi_directory_tags",    "mesif_directory",
                                             "moesi_broadcast_home",   "mesif_broadcast_home",
                                             "moesi_directory_filter", "mesi_migratory_directory"};  // those for nodes only

inline std::string shipped_text(const std::string& name) {
  const std::ifstream file(std::string(LINEBOUNCE_SOURCE_DIR) + "/models/protocols/" + name + ".md");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The text as file NAME.md, with the shipped files that it extends.
inline ProtocolFiles files_of(const std::string& name, const std::string& text) {
  ProtocolFiles files = {{name + ".md", text}};
  while (const auto extended = extended_by(files.back()))
    files.push_back({extended->name + ".md", shipped_text(extended->name)});
  return files;
}

inline ProtocolFiles shipped_files(const std::string& name) {
  return files_of(name, shipped_text(name));
}

// The file models/protocols/NAME.md; for a node or group with the partners that it names.
inline Protocol shipped_protocol(const std::string& name) {
  const ProtocolFiles files = shipped_files(name);
  const auto partners = partners_of(files);
  if (!partners) return parse_protocol(files);
  if (partners->bus.empty()) return parse_group_protocol(files, shipped_protocol(partners->directory));
  return parse_node_protocol(files, shipped_protocol(partners->bus), shipped_protocol(partners->directory));
}

}  // namespace linebounce::test
