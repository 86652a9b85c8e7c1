// Compiles locks in C and C++ with the user's compiler; workloads/native loads the result.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace linebounce::sim {

// True if the name has the suffix of a C or C++ file.
bool is_native_path(std::string_view text);

struct CompiledLock {
  std::filesystem::path object;  // the compiled shared object, in $XDG_CACHE_HOME/linebounce/locks
  std::string names;             // as SourceFile::names
};

// Compiles the file, or returns the cached result. Runs CC or CXX (default: cc, c++) with the options in CFLAGS or CXXFLAGS.
// Errors: ConfigError with the compiler's message, or with file and line of code that can't be simulated.
CompiledLock compile_lock(const std::filesystem::path& file);

}  // namespace linebounce::sim
