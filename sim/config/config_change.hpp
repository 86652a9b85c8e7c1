// What differs between two configurations, for people.
#pragma once

#include <toml++/toml.h>

#include <string>

namespace linebounce::sim {

// "workload.lock = ticket, not mcs; machine.cpus = 4, not 8; and 2 more differences": first what is there. Empty: nothing
// differs.
std::string differing_settings(const toml::table& there, const toml::table& here);

}  // namespace linebounce::sim
