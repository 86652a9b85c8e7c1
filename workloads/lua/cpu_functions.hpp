// The functions of the Lua object `cpu`, the first argument of run() and of a lock's functions: cpu:load(word), ...
#pragma once

#include "workloads/lua/interpreter.hpp"

namespace linebounce::workloads {

// Pushes the Lua object `cpu` of this interpreter; cpu.id is the CPU's number. REQUIRES: bind() has been called.
void push_cpu(Interpreter& lua);

}  // namespace linebounce::workloads
