// The part of Lua's library that programs may use.
//
// Left out is what could make a run differ from another one of the same seed, or reach beyond the simulation: files, clock,
// random numbers, addresses as text, weak tables and finalizers (both go by the garbage collector), table.sort (which looks at
// the clock), functions whose last digit is the mathematical library's, and protected calls, which would swallow a limit.
// `pairs` goes by sorted keys: Lua's own order follows from a random seed and from addresses.
#pragma once

#include "workloads/lua/lua_api.hpp"

namespace linebounce::workloads {

// The only globals of a new interpreter.
void open_library(lua_State* state);

}  // namespace linebounce::workloads
