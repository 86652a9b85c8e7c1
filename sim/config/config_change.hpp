// What differs between two configurations, for people.
#pragma once

#include <toml++/toml.h>

#include <string>

namespace linebounce::sim {

// "workload.lock is ticket there, mcs here; machine.cpus is 4 there, 8 here; and 2 more". Empty: nothing differs.
std::string differing_settings(const toml::table& there, const toml::table& here);

}  // namespace linebounce::sim
