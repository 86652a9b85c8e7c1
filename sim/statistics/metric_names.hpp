// Converts the names of a program's locks and functions to parts of metrics' names.
#pragma once

#include <map>
#include <set>
#include <string>

namespace linebounce::sim {

// For each name, a part of metrics' names: lower-case letters, digits and _-[], without a dot. Names that become equal are
// numbered: "log", "log-2".
std::map<std::string, std::string> metric_names(const std::set<std::string>& names);

}  // namespace linebounce::sim
