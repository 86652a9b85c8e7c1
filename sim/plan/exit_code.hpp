// The exit codes, and the one place that turns an exception into one of them and a text for the user.
#pragma once

#include <string>

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

// A process that ended by a signal of its own (a crash, the system's memory running out).
Failure describe_signal(int signal);

ExitCode larger(ExitCode left, ExitCode right);

}  // namespace linebounce::sim
