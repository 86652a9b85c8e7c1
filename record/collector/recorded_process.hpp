// The recorded command, as a child process.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <string>
#include <vector>

namespace linebounce::record {

// From now on a write to a closed pipe, or beyond the limit on file sizes, only returns its error. Recorded programs still get
// SIGPIPE and SIGXFSZ.
void survive_failed_writes();

class RecordedProcess {
 public:
  // Starts the command with one additional environment variable. From now on the signals of trace/termination_signals.hpp don't
  // end this process. Errors: RecordError if the command can't be executed.
  RecordedProcess(const std::vector<std::string>& command, const std::string& variable, const std::string& value);

  [[nodiscard]] pid_t id() const { return id_; }
  // Checks without waiting.
  bool has_ended();
  // Waits for `time` or until a signal arrives. Passes the signal on to the program.
  void pause(std::chrono::nanoseconds time);
  // Takes all signals that have come. Returns false if there was none. Thread-safe. REQUIRES: the program has ended.
  bool take_signals() const;
  // The program's exit status as shells report it: its own, or 128 + the signal that killed it. REQUIRES: the program has
  // ended.
  [[nodiscard]] int exit_status() const;
  // "was killed by signal 11 (Segmentation fault)"; empty if it exited by itself.
  [[nodiscard]] std::string killed_by() const;

 private:
  sigset_t signals_{};  // of trace/termination_signals.hpp
  pid_t id_ = -1;
  bool ended_ = false;
  int status_ = 0;
};

}  // namespace linebounce::record
