// What a trace as a whole is known by.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace linebounce::trace {

// How sentences begin that say of atomic operations which the trace lacks: where some are, "nothing is shared" is no verdict.
inline constexpr const char* kUnseenAtomics = "atomic instructions";
// How the sentence begins that says of a program's own locks that the trace has them as plain operations.
inline constexpr const char* kOwnLocks = "locks that the program makes of atomic operations";
// What Summary::recorder begins with where a real program was recorded.
inline constexpr const char* kProgramRecorder = "linebounce-record";
// How the sentence begins that says that the trace has no times between accesses: neither instructions nor pauses.
inline constexpr const char* kAssumedInstructions = "instructions between accesses";

struct Summary {
  std::string program;   // that was recorded: "dbench", "lbzip2 -k file"
  std::string recorder;  // and by what: "linebounce trace record dcache_dbench --point 3"
  // Of the run that was recorded, where it was a timed one, for replays to be held against: counts of its misses by source
  // ("local_c2c"), and the machine and the whole configuration.
  std::string machine;
  std::map<std::string, std::int64_t> misses;
  std::string configuration;  // TOML
  // What the trace could not hold, a sentence each: for who replays it.
  std::vector<std::string> missing;
  friend bool operator==(const Summary&, const Summary&) = default;
};

inline bool has_unseen_atomics(const std::vector<std::string>& missing) {
  return std::ranges::any_of(missing, [](const std::string& one) { return one.starts_with(kUnseenAtomics); });
}

inline bool has_assumed_instructions(const std::vector<std::string>& missing) {
  return std::ranges::any_of(missing, [](const std::string& one) { return one.starts_with(kAssumedInstructions); });
}

}  // namespace linebounce::trace
