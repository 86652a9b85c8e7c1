// The command that is recorded, as a child process.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <string>
#include <vector>

namespace linebounce::record {

class RecordedProcess {
 public:
  // Starts the command with one more variable in its environment. From now on this process ends by no SIGINT, SIGTERM, SIGHUP.
  // Errors: RecordError, if there is no such program.
  RecordedProcess(const std::vector<std::string>& command, const std::string& variable, const std::string& value);

  [[nodiscard]] pid_t id() const { return id_; }
  // Looks without waiting.
  bool has_ended();
  // Waits as long as that, or until a signal has come to us: those that ask to end are for the program.
  void pause(std::chrono::nanoseconds time);
  // REQUIRES: it has ended. As shells have it: its exit status, or 128 + the signal that killed it.
  [[nodiscard]] int exit_status() const;
  // "was killed by signal 11 (Segmentation fault)"; empty: it ended by itself.
  [[nodiscard]] std::string killed_by() const;

 private:
  sigset_t signals_{};  // that are held back
  pid_t id_ = -1;
  bool ended_ = false;
  int status_ = 0;
};

}  // namespace linebounce::record
