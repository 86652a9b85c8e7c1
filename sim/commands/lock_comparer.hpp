// Replaces each lock of a trace by every suitable one, on one machine, and compares the replays.
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

// The trace in which words that behave like locks are locks; exists as long as this object.
class LocksOfTrace {
 public:
  // Looks for such words. With CompareArguments::word_locks, writes a trace in which they are locks into the folder of the
  // results. Errors: TraceError, OutputError.
  explicit LocksOfTrace(CompareArguments arguments);

  // Arguments that name the new trace, if there is one.
  [[nodiscard]] const CompareArguments& arguments() const { return arguments_; }
  [[nodiscard]] const trace::Reader& reader() const { return *reader_; }
  [[nodiscard]] const std::vector<trace::WordLock>& words() const { return words_; }
  [[nodiscard]] bool replaced() const { return replaced_; }
  // What the trace could not hold; with CompareArguments::word_locks, without the note about these words.
  [[nodiscard]] const std::vector<std::string>& missing() const { return missing_; }

 private:
  CompareArguments arguments_;
  std::unique_ptr<trace::Reader> reader_;
  std::vector<trace::WordLock> words_;
  std::vector<std::string> missing_;
  bool replaced_ = false;
};

// `most_instructions`: the host instructions that all replays may take together. If every lock in every order would take more,
// each replacement gets a first look in one order, and locks with little waiting get none. Returns none if nothing could be
// compared or the study was interrupted; `code` says which. Errors: TraceError; ConfigError, for example if there are no locks.
std::optional<LockComparison> compare_locks(const LocksOfTrace& trace, const std::string& machine, double most_instructions,
                                            const std::vector<std::string>& argv, ExitCode& code);

}  // namespace linebounce::sim
