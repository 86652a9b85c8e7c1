// The streams of a trace, or of a window of it: what comes before the window is followed, not written, so that functions, locks
// and threads are right when it begins.
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

// Which operations of a run are in the trace: of all threads together.
struct Window {
  std::uint64_t skip = 0;  // of those that the rest of the window would have
  std::uint64_t count = UINT64_MAX;
  // It begins when a thread enters a function of this name, and ends when one enters that one; empty: with the run.
  std::string from = {}, until = {};
  double after_s = 0;                                      // seconds since the recording's beginning
  double for_s = std::numeric_limits<double>::infinity();  // seconds since the window's
};

struct HeldLock {
  std::uint32_t lock = 0;
  bool is_shared = false;
  int depth = 0;             // times that its thread has taken it
  bool has_readers = false;  // it is a lock for readers and writers
};

// A lock that is a local variable.
struct StackLock {
  std::pair<std::uint32_t, std::int64_t> place;  // object and offset
  std::size_t frame = 0;                         // that has it, counted from 1
};

struct Thread {
  std::string name;
  std::uint64_t lowest_stack = 0, stack_end = 0;
  std::vector<Frame> frames;                           // of `functions`
  std::uint64_t stack_pointer = 0, frame_pointer = 0;  // of the function that it enters next, as far as they have come
  std::uint32_t stream = trace::kNone;
  bool is_alive = false;
  // When, by how often a thread had been created, begun or ended before; 0: not in the window, or not yet.
  std::uint64_t created = 0, began = 0, ended = 0;
  std::vector<std::uint32_t> functions;  // that it is in, outermost first
  std::vector<HeldLock> held;
  std::vector<StackLock> stack_locks;  // of the frames that it is in, as far as somebody has used them
  int instructions = 0;                // since the latest `execute`
};

class TraceOutput {
 public:
  TraceOutput(BackgroundWriter& writer, Window window);

  // The thread with that number. It stays where it is.
  Thread& thread(std::uint64_t number);
  [[nodiscard]] std::size_t threads() const { return threads_.size(); }
  void begin(Thread& thread);
  void end(Thread& thread);
  // Of another thread. REQUIRES: it has a name.
  void create(Thread& creator, Thread& created);
  void join(Thread& joiner, Thread& joined);

  // Before the operation that enters a function of this name.
  void entering(const std::string& function);
  // What the operation changes in `thread` is to be changed behind this. True: it is in the trace.
  bool append(Thread& thread, const trace::Operation& operation);
  // The same behind the window, too.
  void append_after_all(Thread& thread, const trace::Operation& operation);

  enum class State { before, open, closed };
  [[nodiscard]] State state() const { return state_; }
  // Locks that are still held are released.
  void finish();
  [[nodiscard]] std::uint64_t operations() const { return written_; }

  // Of the threads that were created in the window those that ran beside no other one of them, though nothing in the trace
  // keeps them apart: each was created while another one of them was alive, and ended before that began, or the reverse.
  struct Apart {
    std::size_t threads = 0, of = 0;
  };
  [[nodiscard]] Apart threads_apart() const;
  // More than one of the recorded threads.
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
  bool has_times_;  // the window
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now(), opened_ = began_;
  std::uint64_t asked_ = 0;  // for operations, in the window or not
  std::uint64_t offered_ = 0;
  std::uint64_t written_ = 0;
  int alive_ = 0;                                 // threads
  std::uint64_t lives_ = 0;                       // threads' creations, beginnings and ends
  std::vector<std::unique_ptr<Thread>> threads_;  // by number
};

}  // namespace linebounce::record
