// The streams of a trace, or of a window of it. Operations before the window are followed but not written, so that functions,
// locks and threads are right when it begins.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "record/collector/background_writer.hpp"
#include "record/collector/local_variables.hpp"

namespace linebounce::record {

// Which of a run's operations are in the trace, counted over all threads.
struct Window {
  std::uint64_t skip = 0;  // so many operations are left out, of those that the other limits select
  std::uint64_t count = UINT64_MAX;
  // The window begins when a thread enters the function `from`, and ends when one enters `until`. Empty: with the run.
  std::string from = {}, until = {};
  double after_s = 0;                                      // seconds since the beginning of the recording
  double for_s = std::numeric_limits<double>::infinity();  // seconds since the beginning of the window
};

struct HeldLock {
  std::uint32_t lock = 0;
  bool is_shared = false;
  int depth = 0;             // how often its thread has taken it
  bool has_readers = false;  // it is a reader-writer lock
};

// A lock that is a local variable.
struct StackLock {
  std::pair<std::uint32_t, std::int64_t> place;  // object and offset
  std::size_t frame = 0;                         // its frame, counted from 1
};

struct Thread {
  std::string name;
  std::uint64_t lowest_stack = 0, stack_end = 0;
  std::vector<Frame> frames;                           // one for each of `functions`
  std::uint64_t stack_pointer = 0, frame_pointer = 0;  // those of the function that it enters next, as far as they are known
  std::uint32_t stream = trace::kNone;
  bool is_alive = false;
  // Times counted in creations, beginnings and ends of threads; 0: not in the window, or not yet.
  std::uint64_t created = 0, began = 0, ended = 0;
  std::vector<std::uint32_t> functions;  // functions that it is in, outermost first
  std::vector<HeldLock> held;
  std::vector<StackLock> stack_locks;  // those in the frames that it is in, if it has used them
  int instructions = 0;                // since the latest `execute`
};

class TraceOutput {
 public:
  TraceOutput(BackgroundWriter& writer, Window window);

  // The thread with that number. Its address does not change.
  Thread& thread(std::uint64_t number);
  [[nodiscard]] std::size_t threads() const { return threads_.size(); }
  void begin(Thread& thread);
  void end(Thread& thread);
  // One thread creates, or joins, another. REQUIRES: the other has a name.
  void create(Thread& creator, Thread& created);
  void join(Thread& joiner, Thread& joined);

  // REQUIRES: called before the operation that enters a function of this name.
  void entering(const std::string& function);
  // REQUIRES: `thread` is changed only after this call. Returns true if the operation is in the trace.
  bool append(Thread& thread, const trace::Operation& operation);
  // The same, even after the window.
  void append_after_all(Thread& thread, const trace::Operation& operation);

  enum class State { before, open, closed };
  [[nodiscard]] State state() const { return state_; }
  // Releases locks that are still held.
  void finish();
  [[nodiscard]] std::uint64_t operations() const { return written_; }

  // How many of the window's threads ran beside no other, though the trace would allow them to. Each was created while
  // another was alive, and ended before that one began, or the reverse.
  struct Apart {
    std::size_t threads = 0, of = 0;
  };
  [[nodiscard]] Apart threads_apart() const;
  // Whether more than one recorded thread runs.
  [[nodiscard]] bool threads_run() const { return alive_ > 1; }

 private:
  bool is_in_window();
  void look_at_clock();
  void open();
  void close();
  void define_stream(Thread& thread, bool created);
  void write(Thread& thread, const trace::Operation& operation);
  void write_instructions(Thread& thread);
  void release_all(Thread& thread);

  BackgroundWriter* writer_;
  Window window_;
  State state_ = State::before;
  bool waits_for_function_, waits_for_time_;
  bool has_times_;  // of the window
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now(), opened_ = began_;
  std::uint64_t asked_ = 0;  // how many operations append() was asked to write, in the window or not
  std::uint64_t offered_ = 0;
  std::uint64_t written_ = 0;
  int alive_ = 0;                                 // threads
  std::uint64_t lives_ = 0;                       // creations, beginnings and ends of threads
  std::vector<std::unique_ptr<Thread>> threads_;  // by number
};

}  // namespace linebounce::record
