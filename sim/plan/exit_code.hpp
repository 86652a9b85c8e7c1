// Exit codes. Only this file turns an exception into an exit code and a message for the user.
#pragma once

#include <exception>
#include <string>
#include <utility>

namespace linebounce::sim {

// `linebounce --help` explains them (kExitCodeFooter of command_line.cpp). If several apply, the program returns the largest.
enum class ExitCode : int {
  done = 0,
  check_failed = 1,
  usage = 2,  // also for an unusable configuration or output directory
  unreadable_input = 3,
  simulation_failed = 4,
  internal_bug = 70,
  interrupted = 130,
};

struct Failure {
  ExitCode code = ExitCode::done;
  std::string message;  // complete text for stderr; never contains an exception type's name
};

// REQUIRES: called in a catch block.
Failure describe_current_exception();

// A failure of another of our processes, which has already printed the message. This process prints nothing.
class FailedElsewhere : public std::exception {
 public:
  explicit FailedElsewhere(Failure failure) : failure_(std::move(failure)) {}
  [[nodiscard]] const Failure& failure() const { return failure_; }
  [[nodiscard]] const char* what() const noexcept override { return failure_.message.c_str(); }

 private:
  Failure failure_;
};

// Describes the failure of a process that a signal ended, for example in a crash or for lack of memory.
Failure describe_signal(int signal);

ExitCode larger(ExitCode left, ExitCode right);

}  // namespace linebounce::sim
