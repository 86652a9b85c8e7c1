// Finds atomic instructions that nothing reports: in inline assembler, and in code that linebounce-cc did not compile.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "record/collector/program_image.hpp"
#include "trace/losses.hpp"

namespace linebounce::record {

// The section of the program that contains our runtime. Its atomic instructions are not the program's.
inline constexpr const char* kRuntimeSection = "linebounce_runtime";

// Tells where such instructions are: in the program, in libraries that linebounce-cc compiled, and in others except the C
// library's. Empty if there are none. `has_run`: whether a function is known to have been entered. Compilers report entry
// only for functions with instrumented accesses.
trace::Losses unseen_atomics(const ProgramImage& image, const std::function<bool(const std::string&)>& has_run);

}  // namespace linebounce::record
