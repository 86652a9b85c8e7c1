// Names of sources, kinds of access, resources and parts of a CPI stack, as in results files.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "models/core/cpu_counters.hpp"
#include "models/observer.hpp"

namespace linebounce::sim {

inline constexpr std::array<const char*, kSources> kSourceNames = {"local_c2c",  "local_memory", "remote_memory",
                                                                   "remote_c2c", "node_cache",   "upgrade"};
inline constexpr std::array<const char*, kResources> kResourceNames = {"core", "bus", "line", "link", "controller", "memory"};
inline constexpr std::array<const char*, kAccessKinds> kAccessNames = {"load", "store", "atomic"};
// Readable names for sentences, tables and charts. "local HITM" and "remote HITM" are the terms of `perf c2c`.
inline constexpr std::array<const char*, kSources> kSourceWords = {"local HITM",  "local memory", "remote memory",
                                                                   "remote HITM", "node cache",   "upgrade"};
// The readable name of a source in latency.csv, or of a cache level: "local HITM" for "local_c2c", "L2" for "l2".
inline std::string source_words(const std::string& source) {
  for (std::size_t i = 0; i < kSourceNames.size(); ++i) {
    if (source == kSourceNames[i]) return kSourceWords[i];
  }
  return source.starts_with('l') ? "L" + source.substr(1) : source;
}

// A text for each TimePart. The part that waits for a source is called after the source.
using TimePartTexts = std::array<const char*, kTimeParts>;
constexpr TimePartTexts with_sources(TimePartTexts texts, const std::array<const char*, kSources>& sources) {
  for (std::size_t i = 0; i < kSources; ++i) texts[ordinal(part_of(static_cast<Source>(i)))] = sources[i];
  return texts;
}
inline constexpr TimePartTexts kTimePartNames = with_sources({"issue", "l1", "l2", "l3", "l4", "", "", "", "", "", "", "atomic",
                                                              "store_buffer", "fence", "footprint", "spin", "sleep", "ended"},
                                                             kSourceNames);
inline constexpr TimePartTexts kTimePartWords =
    with_sources({"issue", "L1", "L2", "L3", "L4", "", "", "", "", "", "", "atomic operations", "store buffer full", "fence",
                  "TLB and code", "spin", "sleep", "program ended"},
                 kSourceWords);

}  // namespace linebounce::sim
