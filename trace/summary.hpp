// Facts about a trace as a whole.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace linebounce::trace {

// How the sentence begins that says: the program's own locks are plain operations in this trace.
inline constexpr const char* kOwnLocks = "locks that the program makes of atomic operations";
// How Summary::recorder begins in a recording of a real program.
inline constexpr const char* kProgramRecorder = "linebounce-record";
// In `recorder`: the time between accesses was left out at the user's wish.
inline constexpr const char* kUntimed = " --untimed";
// How the sentence begins that says: instructions and pauses between accesses are assumed.
inline constexpr const char* kAssumedInstructions = "instructions between accesses";
// How the sentence begins that says: what a program computes is measured as time, and written as instructions.
inline constexpr const char* kMeasuredInstructions = "the number of instructions";
// A recorder that measures how long a program computes writes that time as instructions of this many cycles each. Machines of
// today have this value for instructions that miss no cache (models/cpu_spec.hpp), so that on them the time is as measured.
inline constexpr double kCyclesOfInstruction = 0.7;

struct Summary {
  std::string program;   // command line of the recorded program: "dbench", "lbzip2 -k file"
  std::string recorder;  // command line of the recorder: "linebounce trace record dcache_dbench --point 3"
  // For recordings of simulated runs, to compare replays with: machine, misses by source ("local_c2c"), and whole
  // configuration.
  std::string machine;
  std::map<std::string, std::int64_t> misses;
  std::string configuration;  // TOML
  // What the trace does not contain, one sentence each, for users of a replay.
  std::vector<std::string> missing;
  friend bool operator==(const Summary&, const Summary&) = default;
};

inline bool says(const std::vector<std::string>& missing, const char* begin) {
  return std::ranges::any_of(missing, [begin](const std::string& one) { return one.starts_with(begin); });
}

inline bool has_assumed_instructions(const std::vector<std::string>& missing) {
  return says(missing, kAssumedInstructions);
}

// Whether what the host did beside the program may stand in the trace as instructions.
inline bool has_measured_instructions(const std::vector<std::string>& missing) {
  return says(missing, kMeasuredInstructions);
}

// How the trace has what its program computes between accesses: "assumed", "measured" or "counted" by linebounce-record; else
// "stated".
inline const char* computation_of(const Summary& summary) {
  if (has_assumed_instructions(summary.missing)) return "assumed";
  if (has_measured_instructions(summary.missing)) return "measured";
  return summary.recorder.starts_with(kProgramRecorder) ? "counted" : "stated";
}

inline bool is_untimed(const Summary& summary) {
  return summary.recorder.find(kUntimed) != std::string::npos;
}

// Whether the trace is of a real program, with its instructions counted or measured.
inline bool has_recorded_instructions(const Summary& summary) {
  return summary.recorder.starts_with(kProgramRecorder) && !has_assumed_instructions(summary.missing);
}

}  // namespace linebounce::trace
