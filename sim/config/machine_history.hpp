// Reads what a machine file records about itself: past changes with their reasons ([[history]]), and the origin of each
// parameter ([sources]).
#pragma once

#include <toml++/toml.h>

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/settings.hpp"

namespace linebounce::sim {

// A parameter's values before and after a change, as texts. "default" means that the file did not set the parameter.
struct ChangedParameter {
  std::string path;  // "machine.memory.latency_ns"
  std::string before, after;
};

struct HistoryEntry {
  std::string date;  // "2026-11-23"
  std::string what, why;
  std::vector<ChangedParameter> changed;
};

// Reads [[history]]. `settings`: the machine's present parameters. `defaults`: paths that the file doesn't set. Errors:
// ConfigError for an invalid entry, or if a parameter's last change does not end at its present value.
std::vector<HistoryEntry> read_history(const toml::array& entries, const std::string& file, const Settings& settings,
                                       const std::set<std::string>& defaults);

// By the full path of a parameter or of a table: "machine.bus", "machine.memory.latency_ns"
using Sources = std::map<std::string, std::string>;

// Reads [sources]. Each key is a path without "machine.", of a parameter or a whole table. Errors: ConfigError for an unknown
// path, and for a text that does not have one of the forms "calibrated: ROW", "datasheet: ...", "paper: ...", "assumed: WHY".
Sources read_sources(const toml::table& table, const std::string& file, const Origin& origin, const KeySpace& keys);

// Returns the source of a parameter: its own entry, or that of the innermost table that has one; null if there is none.
const std::string* source_of(const Sources& sources, std::string_view path);

}  // namespace linebounce::sim
