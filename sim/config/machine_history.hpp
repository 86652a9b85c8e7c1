// [[history]] of a machine file: what was changed since, and why.
#pragma once

#include <toml++/toml.h>

#include <set>
#include <string>
#include <vector>

#include "sim/config/settings.hpp"

namespace linebounce::sim {

// A parameter's value before a change and after it, as texts; "default" where the file leaves it out.
struct ChangedParameter {
  std::string path;  // "machine.memory.latency_ns"
  std::string before, after;
};

struct HistoryEntry {
  std::string date;  // "2026-11-23"
  std::string what, why;
  std::vector<ChangedParameter> changed;
};

// `settings` are the machine's, `defaults` the paths that the file leaves out. Errors: ConfigError for what is no entry, and
// for a parameter whose steps don't follow one another up to the value that it has.
std::vector<HistoryEntry> read_history(const toml::array& entries, const std::string& file, const Settings& settings,
                                       const std::set<std::string>& defaults);

}  // namespace linebounce::sim
