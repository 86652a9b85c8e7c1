// Sources, kinds of access and resources as the files of a results directory call them.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "models/observer.hpp"

namespace linebounce::sim {

inline constexpr std::array<const char*, kSources> kSourceNames = {"local_c2c",  "local_memory", "remote_memory",
                                                                   "remote_c2c", "node_cache",   "upgrade"};
inline constexpr std::array<const char*, kResources> kResourceNames = {"core", "bus", "line", "link", "controller", "memory"};
inline constexpr std::array<const char*, kAccessKinds> kAccessNames = {"load", "store", "atomic"};

// What people read: in sentences, tables and pictures. local_c2c and remote_c2c have the names that `perf c2c` gives them.
inline constexpr std::array<const char*, kSources> kSourceWords = {"local HITM",  "local memory", "remote memory",
                                                                   "remote HITM", "node cache",   "upgrade"};
// Of a source of latency.csv, hits too: "local HITM" of "local_c2c", "L2" of "l2".
inline std::string source_words(const std::string& source) {
  for (std::size_t i = 0; i < kSourceNames.size(); ++i) {
    if (source == kSourceNames[i]) return kSourceWords[i];
  }
  return source.starts_with('l') ? "L" + source.substr(1) : source;
}

}  // namespace linebounce::sim
