// Says what a program may have meant by a name that it has not defined.
#pragma once

#include <string>
#include <string_view>

#include "workloads/lua/lua_api.hpp"

namespace linebounce::workloads {

// For Lua's message "... (global 'cpus')": "; did you mean machine.cpus?"; for "... (method 'lod')": "; did you mean
// cpu:load?". Empty if the message names nothing undefined, or if no known name is similar.
std::string hint_for_undefined(lua_State* state, std::string_view message);

}  // namespace linebounce::workloads
