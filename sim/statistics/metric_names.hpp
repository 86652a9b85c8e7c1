// Turns the names of a program's locks and functions into parts of metric names.
#pragma once

#include <map>
#include <set>
#include <string>

namespace linebounce::sim {

// By name: lower-case letters, digits and _-[], without a dot. Names that would become equal are numbered: "log", "log-2".
std::map<std::string, std::string> metric_names(const std::set<std::string>& names);

}  // namespace linebounce::sim
