// Replaces each lock of a trace by every lock that suits it, on one machine, and compares the replays.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands/common/common_options.hpp"
#include "commands/compare_locks/lock_comparison.hpp"
#include "trace/limits.hpp"
#include "trace/reader.hpp"
#include "trace/word_locks.hpp"

namespace linebounce::sim {

struct CompareArguments : StudyArguments {
  std::vector<std::string> machines, locks, files;
  bool word_locks = false;
  int orders = 3;
};

// The trace to replay: the recorded one, or a copy in which words that behave like locks were turned into locks.
class LocksOfTrace {
 public:
  // Searches the trace for words that behave like locks. With CompareArguments::word_locks, writes a trace with these locks
  // into the results folder. Errors: TraceError, OutputError.
  explicit LocksOfTrace(CompareArguments arguments);

  // The arguments. If a new trace was written, they name it.
  [[nodiscard]] const CompareArguments& arguments() const { return arguments_; }
  [[nodiscard]] const trace::Reader& reader() const { return *reader_; }
  [[nodiscard]] const std::vector<trace::WordLock>& words() const { return words_; }
  [[nodiscard]] bool replaced() const { return replaced_; }
  // What the trace does not contain. Omits the note about lock-like words if they were turned into locks.
  [[nodiscard]] const std::vector<std::string>& missing() const { return missing_; }
  // What limits a verdict from the recorded trace.
  [[nodiscard]] const trace::Limits& limits() const { return limits_; }

 private:
  CompareArguments arguments_;
  std::unique_ptr<trace::Reader> reader_;
  std::vector<trace::WordLock> words_;
  trace::Limits limits_;
  std::vector<std::string> missing_;
  bool replaced_ = false;
};

// Budget in host instructions for about a minute: half of it for the replays, half for reading and writing their results.
inline constexpr double kMinuteOfReplays = 60e9;

// How long a comparison may take.
struct ComparisonLimit {
  // Host instructions of all replays. If replays of all replacements in all orders would exceed it, each replacement first runs
  // in one order, and only those that lead there run in all.
  double most_instructions = 0;
  bool leaves_out_locks = true;  // if even that exceeds the limit, locks with little waiting are left out
};

// None if nothing could be compared or the study was interrupted; `code` tells which. Errors: TraceError; ConfigError, for
// example for a trace without locks.
std::optional<LockComparison> compare_locks(const LocksOfTrace& trace, const std::string& machine, const ComparisonLimit& limit,
                                            const std::vector<std::string>& argv, ExitCode& code);

// A rough number of replays that a comparison of these locks takes, before it is known which of them matter. `replay_s`: the
// time of one replay in seconds. REQUIRES: the trace has locks.
std::size_t replays_to_compare(const LocksOfTrace& trace, const ComparisonLimit& limit, double replay_s);

// Tries a replacement that another machine confirmed, if its lock was replaced in this comparison, but not by this algorithm in
// all orders. Adds the trial to the comparison. `code` tells of failures.
void try_as_well(const LocksOfTrace& trace, LockComparison& comparison, const LockReplacement& replacement,
                 const std::vector<std::string>& argv, ExitCode& code);

}  // namespace linebounce::sim
