// Makes the signals that end a process wait, so that none leaves a temporary file or folder behind.
#pragma once

#include <csignal>

namespace linebounce::sim {

class SignalsWait {
 public:
  SignalsWait();
  // Lets the signals that have come meanwhile end the process.
  ~SignalsWait();
  SignalsWait(const SignalsWait&) = delete;
  SignalsWait& operator=(const SignalsWait&) = delete;

  // Whether a signal waits. False if no object of this class exists.
  [[nodiscard]] static bool has_come();
  // Called in a child process before it executes another program, which a signal shall end at once.
  static void end_in_child();

 private:
  sigset_t before_;
};

}  // namespace linebounce::sim
