// The functions of `cpu`, which run() and a lock's functions get: cpu:load(word), cpu:store(word, value), ...
#pragma once

#include "workloads/lua/interpreter.hpp"

namespace linebounce::workloads {

// Pushes the interpreter's `cpu`, with its number as cpu.id. REQUIRES: bind() was called.
void push_cpu(Interpreter& lua);

}  // namespace linebounce::workloads
