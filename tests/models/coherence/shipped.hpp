// The protocol files as they ship.
#pragma once

#include <array>
#include <fstream>
#include <sstream>
#include <string>

#include "models/coherence/protocol.hpp"

namespace linebounce::test {

// Every file of models/protocols; a test holds that none is missing.
inline constexpr std::array kShippedProtocols = {"msi_snoop",   "mesi_snoop",  "mesi_snoop_upgrade_retry",
                                                 "mesif_snoop", "moesi_snoop", "dragon_snoop"};

// The file models/protocols/NAME.md.
inline Protocol shipped_protocol(const std::string& name) {
  const std::ifstream file(std::string(LINEBOUNCE_SOURCE_DIR) + "/models/protocols/" + name + ".md");
  std::ostringstream text;
  text << file.rdbuf();
  return parse_protocol(text.str(), name + ".md");
}

}  // namespace linebounce::test
