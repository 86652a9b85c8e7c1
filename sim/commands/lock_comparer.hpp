// Replaces each lock of a trace by every lock that suits it, on one machine, and compares the replays.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/commands/common_options.hpp"
#include "sim/studies/compare_locks/lock_comparison.hpp"
#include "trace/reader.hpp"
#include "trace/word_locks.hpp"

namespace linebounce::sim {

struct CompareArguments : StudyArguments {
  std::vector<std::string> machines, locks, files;
  bool word_locks = false;
  int orders = 3;
};

// The trace to replay: the recorded one, or a copy in which words that behave like locks have become locks.
class LocksOfTrace {
 public:
  // Searches the trace for such words. With CompareArguments::word_locks, writes a trace in which they are locks into the
  // results folder. Errors: TraceError, OutputError.
  explicit LocksOfTrace(CompareArguments arguments);

  // The arguments, which name the new trace if one was written.
  [[nodiscard]] const CompareArguments& arguments() const { return arguments_; }
  [[nodiscard]] const trace::Reader& reader() const { return *reader_; }
  [[nodiscard]] const std::vector<trace::WordLock>& words() const { return words_; }
  [[nodiscard]] bool replaced() const { return replaced_; }
  // What the trace does not contain. With CompareArguments::word_locks, the note about these words is left out.
  [[nodiscard]] const std::vector<std::string>& missing() const { return missing_; }

 private:
  CompareArguments arguments_;
  std::unique_ptr<trace::Reader> reader_;
  std::vector<trace::WordLock> words_;
  std::vector<std::string> missing_;
  bool replaced_ = false;
};

// `most_instructions`: limit on the host instructions of all replays together. If all locks in all orders would exceed it,
// each replacement first runs in one order, and locks with little waiting are not tried. Returns none if nothing could be
// compared or the study was interrupted; `code` says which. Errors: TraceError; ConfigError, for example if there are no
// locks.
std::optional<LockComparison> compare_locks(const LocksOfTrace& trace, const std::string& machine, double most_instructions,
                                            const std::vector<std::string>& argv, ExitCode& code);

}  // namespace linebounce::sim
