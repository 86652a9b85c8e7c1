// Sources and kinds of access as the files of a results directory call them.
#pragma once

#include <array>

#include "models/observer.hpp"

namespace linebounce::sim {

inline constexpr std::array<const char*, kSources> kSourceNames = {"local_c2c",  "local_memory", "remote_memory",
                                                                   "remote_c2c", "node_cache",   "upgrade"};
inline constexpr std::array<const char*, kAccessKinds> kAccessNames = {"load", "store", "atomic"};

}  // namespace linebounce::sim
