// Atomic instructions that nothing reports: of inline assembler, and of code that linebounce-cc did not compile.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "record/collector/program_image.hpp"

namespace linebounce::record {

// The section of the program's code that is our runtime's: its own atomic instructions are not the program's.
inline constexpr const char* kRuntimeSection = "linebounce_runtime";

// Sentences for a trace's summary; none: there is no such instruction in the program and in the libraries that linebounce-cc
// compiled, nor in other libraries but the C library's. `has_run`: whether a function is known to have been entered; compilers
// report that only of functions with accesses that they instrument.
std::vector<std::string> unseen_atomics(const ProgramImage& image, const std::function<bool(const std::string&)>& has_run);

}  // namespace linebounce::record
