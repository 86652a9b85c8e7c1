// The recorded command, as a child process.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <string>
#include <vector>

namespace linebounce::record {

class RecordedProcess {
 public:
  // Starts the command with one additional environment variable. From now on SIGINT, SIGTERM and SIGHUP don't end this process.
  // Errors: RecordError, if there is no such program.
  RecordedProcess(const std::vector<std::string>& command, const std::string& variable, const std::string& value);

  [[nodiscard]] pid_t id() const { return id_; }
  // Checks without waiting.
  bool has_ended();
  // Waits for this time, or until a signal arrives; signals that ask to end are passed to the program.
  void pause(std::chrono::nanoseconds time);
  // REQUIRES: the program has ended. The exit status of shells: the program's own, or 128 + the signal that killed it.
  [[nodiscard]] int exit_status() const;
  // "was killed by signal 11 (Segmentation fault)"; empty if it exited by itself.
  [[nodiscard]] std::string killed_by() const;

 private:
  sigset_t signals_{};  // signals that are held back
  pid_t id_ = -1;
  bool ended_ = false;
  int status_ = 0;
};

}  // namespace linebounce::record
