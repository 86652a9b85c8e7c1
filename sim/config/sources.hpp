// Where a machine's parameters come from: the [sources] table of a machine file.
#pragma once

#include <toml++/toml.h>

#include <map>
#include <string>
#include <string_view>

#include "sim/config/settings.hpp"

namespace linebounce::sim {

using Sources = std::map<std::string, std::string>;  // by full path or table: "machine.bus", "machine.memory.latency_ns"

// Reads [sources], whose keys are paths below the machine: a parameter or a whole table. Errors: ConfigError for a path that
// doesn't exist and for a text that is none of "calibrated: ROW", "datasheet: ...", "paper: ...", "assumed: WHY".
Sources read_sources(const toml::table& table, const std::string& file, const Origin& origin, const KeySpace& keys);

// The most special entry for a parameter; null if there is none.
const std::string* source_of(const Sources& sources, std::string_view path);

}  // namespace linebounce::sim
