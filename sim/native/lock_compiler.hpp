// Compiles locks in C and C++ with the user's compiler, for workloads/native.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace linebounce::sim {

// Whether a value names a lock in C or C++, judging by its suffix.
bool is_native_path(std::string_view text);

struct CompiledLock {
  std::filesystem::path object;  // the shared object, in $XDG_CACHE_HOME/linebounce/locks
  std::string names;             // as SourceFile::names
};

// Compiles the file, unless that was done before.
// Runs the words of CC or CXX (default: cc, c++) with those of CFLAGS or CXXFLAGS. Errors: ConfigError, with the compiler's
// message, or with the file and line of what can't be simulated.
CompiledLock compile_lock(const std::filesystem::path& file);

}  // namespace linebounce::sim
