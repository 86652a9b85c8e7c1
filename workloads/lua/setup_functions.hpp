// The global Lua functions that place memory, locks and barriers in setup(), and the function `named`.
#pragma once

#include "workloads/lua/lua_api.hpp"

namespace linebounce::workloads {

void add_setup_functions(lua_State* state);

}  // namespace linebounce::workloads
