// Each lock of a trace replaced by every suitable one, on one machine: by replaying it.
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

// The trace with words that behave like locks as locks, for as long as this lives.
class LocksOfTrace {
 public:
  // Looks for such words; with CompareArguments::word_locks it writes a trace in which they are locks, into the folder of the
  // results. Errors: TraceError, OutputError.
  explicit LocksOfTrace(CompareArguments arguments);

  // Of that trace, if there is one.
  [[nodiscard]] const CompareArguments& arguments() const { return arguments_; }
  [[nodiscard]] const trace::Reader& reader() const { return *reader_; }
  [[nodiscard]] const std::vector<trace::WordLock>& words() const { return words_; }
  [[nodiscard]] bool replaced() const { return replaced_; }
  // What the trace could not hold; with CompareArguments::word_locks without what these words are.
  [[nodiscard]] const std::vector<std::string>& missing() const { return missing_; }

 private:
  CompareArguments arguments_;
  std::unique_ptr<trace::Reader> reader_;
  std::vector<trace::WordLock> words_;
  std::vector<std::string> missing_;
  bool replaced_ = false;
};

// `most_instructions`: of the host, for all replays. If every lock in every order would take more, the replacements get a first
// look in one order, and locks with little waiting none. None: nothing could be compared, or it was interrupted; `code` says so.
// Errors: ConfigError, among others if there are no locks; TraceError.
std::optional<LockComparison> compare_locks(const LocksOfTrace& trace, const std::string& machine, double most_instructions,
                                            const std::vector<std::string>& argv, ExitCode& code);

}  // namespace linebounce::sim
