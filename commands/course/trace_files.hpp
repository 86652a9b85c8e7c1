// Traces as courses hand them out: their files, the caches that they run on, and their replay on a machine.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "commands/course/bus_options.hpp"
#include "sim/plan/unfinished_file.hpp"
#include "sim/replay/replay_study.hpp"
#include "trace/reader.hpp"
#include "workloads/replay/recorded_memory.hpp"

namespace linebounce::sim {

// True if `word` is a trace file, of Linebounce or another tool.
bool is_trace(const std::string& word);

// True also for a file in no known form, if the options are a trace's: reading it says which line is not legal.
bool is_meant_as_trace(const std::string& word, const TraceOptions& options);

// The accesses that stand in the place of a trace: those of --accesses, or of a file `input` of such accesses, in which # and
// // begin comments. None if `input` is something else. Errors: UsageError if both or neither are given.
std::optional<std::string> accesses_of(const TraceOptions& options, const std::string& input);

// The trace in Linebounce's format: its own file, or a conversion of another tool's files.
class ConvertedTrace {
 public:
  // `subcommand`: "run", for messages. `keep`: where to keep the conversion; empty: it is removed in the end. Errors:
  // ConfigError, TraceError.
  ConvertedTrace(const TraceOptions& options, const std::string& subcommand, const std::filesystem::path& keep);
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::optional<UnfinishedFile> temporary_;
};

// The machine: as the user named it, else where the trace was recorded, else course_8way.
std::string machine_of(const TraceOptions& options, const trace::Reader& reader);

// Places the trace's objects, so that the same lines are in the same sets as in a replay on a machine with such caches. Errors:
// ConfigError.
workloads::RecordedMemory memory_of(const trace::Reader& reader, const TraceOptions& options, const AtomicCacheSpec& spec);

// The number of caches that the trace needs on an atomic bus. Errors: ConfigError if these are too many.
int caches_in(const trace::Reader& reader);

// The trace on a machine, with the options as its settings. `counters`: with run.counters. Errors: ConfigError for a cache size
// on a machine with several levels.
ReplayStudy study_of(const TraceOptions& options, const trace::Reader& reader, bool counters);

}  // namespace linebounce::sim
