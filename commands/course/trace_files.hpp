// Traces as courses hand them out: their files, the caches that they run on, and their replay on a machine.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "commands/common/command.hpp"
#include "commands/common/common_options.hpp"
#include "commands/course/atomic_bus.hpp"
#include "sim/plan/exit_code.hpp"
#include "sim/plan/unfinished_file.hpp"
#include "sim/replay/replay_study.hpp"
#include "trace/reader.hpp"
#include "workloads/replay/recorded_memory.hpp"

namespace linebounce::sim {

constexpr int kMostAtomicCaches = 64;

struct TraceOptions {
  std::vector<std::string> files;  // one, or one for each CPU
  std::string as;                  // the form; empty: recognised
  std::string accesses;            // instead of files: typed accesses, for an atomic bus
  OverrideArguments overrides;
  std::string protocol;  // empty: the machine's
  std::optional<int> cache_bytes, ways, line_bytes;
};

// Adds --accesses, --protocol, --cache-bytes, --ways, --line-bytes and --as.
void add_trace_options(Command& command, TraceOptions& options);

// True if one of these options was given.
bool has_trace_options(const TraceOptions& options);

// True if `word` is a trace file, of Linebounce or another tool.
bool is_trace(const std::string& word);

// True also for a file in no known form, if the options are a trace's: reading it says which line is not legal.
bool is_meant_as_trace(const std::string& word, const TraceOptions& options);

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

// Loads the protocol that the user named. "mesi", which is no file, is the textbook's, mesi_atomic. Errors: ConfigError.
Protocol protocol_of_course(const std::string& name);

// The protocol of typed accesses. Errors: UsageError if the user named none, ConfigError if it is not for an atomic bus.
Protocol protocol_of_accesses(const TraceOptions& options);

bool is_for_atomic_bus(const Protocol& protocol);

// Runs accesses on an atomic bus. If the protocol does what no correct one does, says so, and names the command that shows how.
ExitCode run_on_bus(const Protocol& protocol, const std::function<void()>& run);

// The machine: as the user named it, else where the trace was recorded, else course_8way.
std::string machine_of(const TraceOptions& options, const trace::Reader& reader);

// The caches of an atomic bus: as the options say, else those of the machine. Errors: ConfigError.
AtomicCacheSpec caches_of(const TraceOptions& options, const std::string& machine);

// Places the trace's objects, so that the same lines are in the same sets as in a replay on a machine with such caches. Errors:
// ConfigError.
workloads::RecordedMemory memory_of(const trace::Reader& reader, const TraceOptions& options, const AtomicCacheSpec& spec);

// The number of caches that the trace needs on an atomic bus. Errors: ConfigError if these are too many.
int caches_in(const trace::Reader& reader);

// Refuses --set, because an atomic bus has no time. Errors: ConfigError.
void refuse_settings(const TraceOptions& options, const Protocol& protocol);

// The trace on a machine, with the options as its settings. `counters`: with run.counters. Errors: ConfigError for a cache size
// on a machine with several levels.
ReplayStudy study_of(const TraceOptions& options, const trace::Reader& reader, bool counters);

}  // namespace linebounce::sim
