// Traces as courses hand them out: their files, the caches that they run on, and their replay on a machine.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "commands/course/bus_options.hpp"
#include "commands/course/course_trace.hpp"
#include "sim/plan/unfinished_file.hpp"
#include "sim/replay/replay_study.hpp"
#include "trace/reader.hpp"

namespace linebounce::sim {

// True for the name of an experiment, a program or lock, or a protocol.
bool has_own_name(const std::string& word);

// True if `word` is a trace file, of Linebounce or another tool.
bool is_trace(const std::string& word);

// True also for a file in no known form, if the options are a trace's: reading it says which line is not legal. Errors:
// TraceError for a file that is not there.
bool is_meant_as_trace(const std::string& word, const TraceOptions& options);

// The trace in Linebounce's format: its own file, or a conversion of another tool's files.
class ConvertedTrace {
 public:
  // Converts the files, unless they are a trace of Linebounce's. `subcommand`: "run", for messages. `directory`: where keep()
  // leaves the conversion; empty: the conversion is temporary. Errors: ConfigError, TraceError.
  ConvertedTrace(const TraceOptions& options, const std::string& subcommand, const std::filesystem::path& directory);
  // Removes the conversion, unless it was kept or there before.
  ~ConvertedTrace();
  ConvertedTrace(const ConvertedTrace&) = delete;
  ConvertedTrace& operator=(const ConvertedTrace&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  // Leaves the conversion, because results name it.
  void keep() { is_new_ = false; }

 private:
  std::filesystem::path path_;
  std::optional<UnfinishedFile> temporary_;
  bool is_new_ = false;
};

// The machine: as the user named it, else where the trace was recorded, else course_8way.
std::string machine_of(const TraceOptions& options, const trace::Reader& reader);

// The number of caches that the trace needs on an atomic bus. Errors: ConfigError if these are too many.
int caches_in(const TraceOptions& options, const trace::Reader& reader);

// Visits the accesses in one order (course_trace.hpp), at addresses whose lines are in the same sets as in a replay on a
// machine with such caches. Errors: ConfigError; TraceError, also if there are none.
void visit_accesses(const TraceOptions& options, const trace::Reader& reader, const AtomicCacheSpec& spec,
                    const std::function<void(const CourseAccess&)>& visit);

// The trace on a machine, with the options as its settings. `counters`: with run.counters. Errors: ConfigError for a cache size
// on a machine with several levels.
ReplayStudy study_of(const TraceOptions& options, const trace::Reader& reader, bool counters);

}  // namespace linebounce::sim
