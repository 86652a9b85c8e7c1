// Options of a trace or of typed accesses, and the atomic bus that they describe: its protocol and its caches.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "commands/common/command.hpp"
#include "commands/common/common_options.hpp"
#include "commands/course/atomic_bus.hpp"
#include "sim/plan/exit_code.hpp"

namespace linebounce::sim {

constexpr const char* kCourseMachine = "course_8way";
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

// The name of the file of the protocol that the user named: "MESI", which is none, is the textbook's, mesi_atomic, and
// "write-through" is write_through_atomic. A path stays as it is.
std::string protocol_file(const std::string& wanted);

// Loads the protocol that the user named. A file's name is its path. Errors: ConfigError, also if it is not for a bus.
Protocol protocol_of_course(const std::string& name);

// The protocol of typed accesses. Errors: UsageError if the user named none, ConfigError if it is not for an atomic bus.
Protocol protocol_of_accesses(const TraceOptions& options);

bool is_for_atomic_bus(const Protocol& protocol);

// Runs accesses on an atomic bus. If the protocol does what no correct one does, says so, and names the command that shows how.
ExitCode run_on_bus(const Protocol& protocol, const std::function<void()>& run);

// The caches of an atomic bus: as the options say, else those of the machine, else of course_8way. Errors: ConfigError.
AtomicCacheSpec caches_of(const TraceOptions& options, const std::string& machine);

// Whether a seed has an effect: for a trace with virtual pages, it draws their frames.
enum class SeedOf : std::uint8_t { nothing, frames };

// Refuses --set, because an atomic bus has no time, and a seed of nothing. Errors: ConfigError, UsageError.
void refuse_settings(const TraceOptions& options, const Protocol& protocol, SeedOf seed);

}  // namespace linebounce::sim
