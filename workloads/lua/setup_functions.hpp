// The global functions with which setup() places memory, locks and barriers, and `named`.
#pragma once

#include "workloads/lua/lua_api.hpp"

namespace linebounce::workloads {

void add_setup_functions(lua_State* state);

}  // namespace linebounce::workloads
