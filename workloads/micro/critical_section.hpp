// How critical_section reports a lock that does not exclude.
#pragma once

#include <string_view>

namespace linebounce::workloads {

// In its ModelFailure, behind the name of the lock that lets a second CPU in.
inline constexpr std::string_view kDoesNotExclude = " does not exclude: ";

}  // namespace linebounce::workloads
