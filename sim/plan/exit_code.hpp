// The exit codes, and the one place that turns an exception into one of them and a text for the user.
#pragma once

#include <exception>
#include <string>
#include <utility>

namespace linebounce::sim {

// What `linebounce --help` says of them (kExitCodeFooter of command_line.cpp). Where several apply, the largest is returned.
enum class ExitCode : int {
  done = 0,
  check_failed = 1,
  usage = 2,  // also a configuration or an output directory that can't be used
  unreadable_input = 3,
  simulation_failed = 4,
  internal_bug = 70,
  interrupted = 130,
};

struct Failure {
  ExitCode code = ExitCode::done;
  std::string message;  // complete, ready for stderr; never an exception type's name
};

// REQUIRES: called in a catch block.
Failure describe_current_exception();

// Thrown for what failed in a process of ours, and is described already: nothing is added to it.
class FailedElsewhere : public std::exception {
 public:
  explicit FailedElsewhere(Failure failure) : failure_(std::move(failure)) {}
  [[nodiscard]] const Failure& failure() const { return failure_; }
  [[nodiscard]] const char* what() const noexcept override { return failure_.message.c_str(); }

 private:
  Failure failure_;
};

// A process that ended by a signal of its own (a crash, the system's memory running out).
Failure describe_signal(int signal);

ExitCode larger(ExitCode left, ExitCode right);

}  // namespace linebounce::sim
