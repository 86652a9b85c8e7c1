// Runs jobs in separate processes, several at once. A crash ends only its own job.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <system_error>
#include <type_traits>
#include <vector>

#include "sim/plan/exit_code.hpp"

namespace linebounce::sim {

// An array that later child processes share with this process.
template <class Value>
class SharedArray {
  static_assert(std::is_trivially_copyable_v<Value>);

 public:
  // All bytes are initially 0. Errors: std::system_error.
  explicit SharedArray(std::size_t count) : bytes_(std::max<std::size_t>(1, count) * sizeof(Value)) {
    void* const memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "no memory to share with simulations");
    values_ = static_cast<Value*>(memory);
  }
  ~SharedArray() { ::munmap(values_, bytes_); }
  SharedArray(const SharedArray&) = delete;
  SharedArray& operator=(const SharedArray&) = delete;

  Value& operator[](std::size_t index) { return values_[index]; }

 private:
  std::size_t bytes_;
  Value* values_ = nullptr;
};

// The signals of trace/termination_signals.hpp end this process with the exit code of an interrupt. SIGQUIT still makes it dump
// core, and SIGXCPU and SIGPROF end it themselves, which tells a parent of a limit on time. A signal that was ignored from the
// start (by nohup or for a background job) stays ignored.
void exit_on_interrupts();

// While this object exists, all of these signals and SIGPIPE do not end the process; interrupted() tells whether one arrived.
// SIGPIPE, from a write to a pipe without a reader, ends the process when this object is destroyed.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  [[nodiscard]] int descriptor() const { return descriptor_; }  // becomes readable when a signal arrives
  bool interrupted();
  [[nodiscard]] int signal() const { return signal_; }  // that interrupted() has found; 0: none
  void restore_in_child() const;

 private:
  struct Saved;
  Saved* saved_;
  int descriptor_;
  int signal_ = 0;
};

struct JobOutcome {
  Failure failure;  // its code is `done` if the job did not fail
  int signal = 0;   // the signal that ended the job; 0: none
  std::int64_t peak_memory_kib = 0;
  double cpu_s = 0;
};

// A running job, and the share of it that is done, 0 to 1.
struct RunningJob {
  int job = 0;
  double share = 0;
};

inline double sum_of_shares(const std::vector<RunningJob>& running) {
  double sum = 0;
  for (const RunningJob& job : running) sum += job.share;
  return sum;
}

struct PoolCallbacks {
  // Called in the child. `progress` takes the share of the job that is done, 0 to 1. An exception becomes the outcome's
  // failure.
  std::function<void(int job, const std::function<void(double)>& progress)> work;
  // Called in this process when a job has ended. If it returns false, running jobs are stopped and no more are started.
  std::function<bool(int job, const JobOutcome& outcome)> finished;
  // Called in this process several times a second.
  std::function<void(const std::vector<RunningJob>& running)> tick;
};

// Runs jobs 0 to count - 1 in this order, at most `at_once` at a time, and returns when all have ended. After an interrupt,
// or once `finished` returns false, stops the running jobs and returns. Loads SystemC once in this process, before the jobs'
// processes are made. REQUIRES: this process has not simulated anything. Errors: ConfigError if SystemC is missing.
void run_in_processes(int count, int at_once, InterruptGuard& guard, const PoolCallbacks& callbacks);

}  // namespace linebounce::sim
