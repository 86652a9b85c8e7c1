// Finds calls such as cpu.load(a, b), with a dot where a colon should be. Lua then passes `a` as the CPU, and the function
// works on `b` without an error. The file's text is searched before it runs, so that calls cost nothing more.
#pragma once

#include "workloads/program/source_file.hpp"

namespace linebounce::workloads {

// Throws LuaError if the text calls a function of `cpu` with a dot, except cpu.load(cpu, word), which is correct.
void require_colons(const SourceFile& file);

}  // namespace linebounce::workloads
