// Turns what would end the program, or never end, in a lock's code into an error of that lock: a trap, a division by zero, an
// access to no memory, and a loop without any access, which no other CPU can end.
#pragma once

namespace linebounce::workloads {

class LockObject;

// While one exists, signals that a lock's code raises are errors (ModelFailure) of the call that is running. Only one may exist
// at a time in a process, and locks must run in one thread.
class CodeFaults {
 public:
  static constexpr double kLongestStretch = 0.2;  // most CPU time in seconds between two accesses

  CodeFaults();
  ~CodeFaults();
  CodeFaults(const CodeFaults&) = delete;
  CodeFaults& operator=(const CodeFaults&) = delete;

  // Notes whose code runs from now on; null: the simulator's. Called at each access, so that a stretch begins anew.
  static void running(const LockObject* object);
};

}  // namespace linebounce::workloads
