// Compiles locks in C and C++ with the user's compiler, for workloads/native.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace linebounce::sim {

// True if the value's suffix is that of a lock in C or C++.
bool is_native_path(std::string_view text);

struct CompiledLock {
  std::filesystem::path object;  // the shared object, in $XDG_CACHE_HOME/linebounce/locks
  std::string names;             // as SourceFile::names
};

// Compiles the file unless the cache has its result. Runs CC or CXX (default: cc, c++) with the options in CFLAGS or
// CXXFLAGS. Errors: ConfigError with the compiler's message, or with file and line of what can't be simulated.
CompiledLock compile_lock(const std::filesystem::path& file);

}  // namespace linebounce::sim
