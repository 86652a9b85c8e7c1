// What a machine file says about itself: [[history]] (past changes, and why) and [sources] (the origin of each parameter).
#pragma once

#include <toml++/toml.h>

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/settings.hpp"

namespace linebounce::sim {

// A parameter's values before and after a change, as texts. "default" means that the file left it out.
struct ChangedParameter {
  std::string path;  // "machine.memory.latency_ns"
  std::string before, after;
};

struct HistoryEntry {
  std::string date;  // "2026-11-23"
  std::string what, why;
  std::vector<ChangedParameter> changed;
};

// `settings`: the machine's. `defaults`: the paths that the file leaves out. Errors: ConfigError for an invalid entry, or if
// a parameter's changes do not end at its present value.
std::vector<HistoryEntry> read_history(const toml::array& entries, const std::string& file, const Settings& settings,
                                       const std::set<std::string>& defaults);

using Sources = std::map<std::string, std::string>;  // by full path or table: "machine.bus", "machine.memory.latency_ns"

// Reads [sources], whose keys are paths below the machine: a parameter or a whole table. Errors: ConfigError for an unknown
// path, and for a text other than "calibrated: ROW", "datasheet: ...", "paper: ...", "assumed: WHY".
Sources read_sources(const toml::table& table, const std::string& file, const Origin& origin, const KeySpace& keys);

// The most specific entry for a parameter; null if there is none.
const std::string* source_of(const Sources& sources, std::string_view path);

}  // namespace linebounce::sim
