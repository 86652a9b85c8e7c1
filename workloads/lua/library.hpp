// The part of Lua's standard library that programs may use.
//
// It omits everything that could make two runs with the same seed differ, or that reaches beyond the simulation: files, the
// clock, random numbers, addresses as text, weak tables and finalizers (which depend on the garbage collector), table.sort
// (which reads the clock), functions whose last digit depends on the mathematical library, and protected calls, which would
// catch the error of an exceeded limit. `pairs` visits keys in sorted order, because Lua's own order depends on a random seed
// and on addresses.
#pragma once

#include "workloads/lua/lua_api.hpp"

namespace linebounce::workloads {

// Sets the globals of a new interpreter to this part of the library.
void open_library(lua_State* state);

}  // namespace linebounce::workloads
