// Finds calls such as cpu.load(a, b), with a dot where a colon should be. Lua passes `a` as the CPU then, and the function
// works on `b` without an error. Looking at the text costs nothing while the program runs.
#pragma once

#include "workloads/program/source_file.hpp"

namespace linebounce::workloads {

// Throws LuaError if the text calls a function of `cpu` with a dot, except cpu.load(cpu, word), which is correct.
void require_colons(const SourceFile& file);

}  // namespace linebounce::workloads
