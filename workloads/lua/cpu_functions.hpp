// The functions of the Lua object `cpu`, the first argument of run() and of a lock's functions: cpu:load(word), ...
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "workloads/lua/interpreter.hpp"

namespace linebounce::workloads {

// Pushes the Lua object `cpu` of this interpreter; cpu.id is the CPU's number. REQUIRES: bind() has been called.
void push_cpu(Interpreter& lua);
// True if `cpu` has a function of this name.
bool is_cpu_function(std::string_view name);
// The names of all its functions.
std::vector<std::string> cpu_function_names();

}  // namespace linebounce::workloads
