// Finds atomic instructions that are not recorded: those in inline assembler, and in code that linebounce-cc did not compile.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "record/collector/program_image.hpp"
#include "trace/losses.hpp"

namespace linebounce::record {

// The section of the recorded program that contains our runtime, whose atomic instructions are not the program's.
inline constexpr const char* kRuntimeSection = "linebounce_runtime";

// Reports where such instructions are: in the program, in libraries that linebounce-cc compiled, and in other libraries except
// the C library. Empty if there are none. `has_run`: whether a function was entered. It is known only for functions with
// instrumented accesses, because compilers report no other entries.
trace::Losses unseen_atomics(const ProgramImage& image, const std::function<bool(const std::string&)>& has_run);

}  // namespace linebounce::record
