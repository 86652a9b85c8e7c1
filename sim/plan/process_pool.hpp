// Runs jobs in processes of their own, a few at once: SystemC builds one simulation in a process, and a crash stays in its own.
#pragma once

#include <cstdint>
#include <functional>

#include "sim/plan/exit_code.hpp"

namespace linebounce::sim {

// From now on SIGINT and SIGTERM end this process with the exit code of an interrupt. One that was ignored when it began
// (nohup, a shell's background job) stays so.
void exit_on_interrupts();

// While it lives, SIGINT and SIGTERM don't end this process but can be asked for.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  [[nodiscard]] int descriptor() const { return descriptor_; }  // readable once a signal has come
  bool interrupted();
  void restore_in_child() const;

 private:
  struct Saved;
  Saved* saved_;
  int descriptor_;
  bool interrupted_ = false;
};

struct JobOutcome {
  Failure failure;  // code `done` if there was none
  int signal = 0;   // that ended it; 0: none
  std::int64_t peak_memory_kib = 0;
};

struct PoolCallbacks {
  // In the child. Reports the share done, 0 to 1, through its second argument. What it throws becomes the outcome's failure.
  std::function<void(int job, const std::function<void(double)>& progress)> work;
  // In this process, in the order in which jobs end. Returning false ends all others and starts no more.
  std::function<bool(int job, const JobOutcome& outcome)> finished;
  // In this process, several times a second: the sum of the shares of the jobs that are running.
  std::function<void(double running_share)> tick;
};

// Runs jobs 0 to count - 1, at most `at_once` at a time, started in order. Returns when all have ended, or, after an interrupt
// or a `finished` that returned false, when those under way have been stopped. REQUIRES: this process has not touched SystemC.
void run_in_processes(int count, int at_once, InterruptGuard& guard, const PoolCallbacks& callbacks);

}  // namespace linebounce::sim
