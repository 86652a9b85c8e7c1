// Facts about a trace as a whole.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace linebounce::trace {

// The beginning of sentences about atomic operations that are not in the trace; with such a sentence, "nothing is shared" is
// not a verdict.
inline constexpr const char* kUnseenAtomics = "atomic instructions";
// The beginning of the sentence that a program's own locks are plain operations in the trace.
inline constexpr const char* kOwnLocks = "locks that the program makes of atomic operations";
// The beginning of Summary::recorder for recordings of real programs.
inline constexpr const char* kProgramRecorder = "linebounce-record";
// The beginning of the sentence that the trace has neither instructions nor pauses between accesses.
inline constexpr const char* kAssumedInstructions = "instructions between accesses";

struct Summary {
  std::string program;   // the recorded program: "dbench", "lbzip2 -k file"
  std::string recorder;  // the recorder: "linebounce trace record dcache_dbench --point 3"
  // For comparison with replays of a timed run: its misses by source ("local_c2c"), its machine and its whole configuration.
  std::string machine;
  std::map<std::string, std::int64_t> misses;
  std::string configuration;  // TOML
  // What the trace could not record, one sentence each, for users of a replay.
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
