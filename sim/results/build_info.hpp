// Versions that this program was built from. cmake/build_info.cmake writes the definitions in each build.
#pragma once

namespace linebounce::sim {

extern const char* const kVersion;   // "0.1.0"
extern const char* const kCommit;    // `git describe`, or "unknown"
extern const char* const kCompiler;  // "GNU 12.2.0"
extern const char* const kSystemC;   // "2.3.4"

}  // namespace linebounce::sim
