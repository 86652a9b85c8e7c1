// Names from files that become names of directories.
#pragma once

#include <string>

namespace linebounce::sim {

// "counter", or in a folder "what_if/counter": below the directory that it is put into, wherever the file came from, and
// without blanks and control characters.
bool names_directory(const std::string& name);

// Why another one is refused.
inline constexpr const char* kNoDirectoryName =
    "cannot name a results directory: no blanks, no leading dot, and slashes only between a folder and what is in it";

}  // namespace linebounce::sim
