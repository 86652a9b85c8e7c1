// Runs jobs in separate processes, a few at once, so that a crash ends only its own job.
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

// Memory that later child processes share with this one.
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

// From now on SIGINT and SIGTERM end this process with the exit code of an interrupt. A signal that was ignored at the start
// (nohup, a shell's background job) stays ignored.
void exit_on_interrupts();

// While it exists, SIGINT and SIGTERM don't end this process, and can be queried.
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
  Failure failure;  // has code `done` if there was none
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
  // Runs in the child. Reports the share done, 0 to 1, through its second argument. An exception becomes the outcome's failure.
  std::function<void(int job, const std::function<void(double)>& progress)> work;
  // Runs in this process, in the order in which jobs end. Returning false stops all other jobs and starts no more.
  std::function<bool(int job, const JobOutcome& outcome)> finished;
  // Runs in this process, several times a second.
  std::function<void(const std::vector<RunningJob>& running)> tick;
};

// Runs jobs 0 to count - 1, at most `at_once` at a time, started in order. Returns when all have ended. After an interrupt, or
// a `finished` that returned false, stops the running jobs and returns. Loads SystemC, so that not each job has to. REQUIRES:
// this process has simulated nothing. Errors: ConfigError, without SystemC.
void run_in_processes(int count, int at_once, InterruptGuard& guard, const PoolCallbacks& callbacks);

}  // namespace linebounce::sim
