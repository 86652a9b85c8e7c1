// Writes a trace's streams, or only a window of them. Operations before the window are tracked but not written, so that
// functions, locks and threads are right when the window begins.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "record/collector/background_writer.hpp"
#include "record/collector/local_variables.hpp"

namespace linebounce::record {

// Selects which of a run's operations are written to the trace. Operations are counted over all threads.
struct Window {
  std::uint64_t skip = 0;  // operations to leave out first, counted after the other limits apply
  std::uint64_t count = UINT64_MAX;
  // The window begins when a thread enters the function `from`, and ends when one enters `until`. Empty: at the run's begin or
  // end.
  std::string from = {}, until = {};
  double after_s = 0;                                      // seconds since the beginning of the recording
  double for_s = std::numeric_limits<double>::infinity();  // seconds since the beginning of the window
};

struct HeldLock {
  std::uint32_t lock = 0;
  bool is_shared = false;
  int depth = 0;             // how many times its thread has acquired it
  bool has_readers = false;  // true for a reader-writer lock
};

// A lock that is a local variable.
struct StackLock {
  std::pair<std::uint32_t, std::int64_t> place;  // object and offset
  std::size_t frame = 0;                         // its frame, counted from 1
};

struct Thread {
  std::string name;
  std::uint64_t lowest_stack = 0, stack_end = 0;
  std::vector<Frame> frames;                           // one for each of `functions`, in the same order
  std::uint64_t stack_pointer = 0, frame_pointer = 0;  // of the function that the thread enters next; 0: unknown
  std::uint32_t stream = trace::kNone;
  bool is_alive = false;
  // Points in time, counted as the number of creations, beginnings and ends of threads so far. 0: not yet, or outside the
  // window.
  std::uint64_t created = 0, began = 0, ended = 0;
  std::vector<std::uint32_t> functions;  // functions that the thread is in, outermost first
  std::vector<HeldLock> held;
  bool is_in_team = false;             // it has passed a barrier of an OpenMP team
  std::vector<StackLock> stack_locks;  // local locks that the thread has used in its current frames
  // Since the latest `execute`. Negative: more accesses than instructions so far, as after instructions that load and store.
  std::int64_t instructions = 0;
  double instructions_of_event = 0;  // between two events, where that takes too little time to be measured each time
};

class TraceOutput {
 public:
  // What the recorder knows about instructions between accesses: their number, how long they took, or nothing.
  enum class Instructions { counted, measured, assumed };
  TraceOutput(BackgroundWriter& writer, Window window, Instructions instructions);

  // Returns the thread with that number; the reference stays valid.
  Thread& thread(std::uint64_t number);
  [[nodiscard]] std::size_t threads() const { return threads_.size(); }
  void begin(Thread& thread);
  void end(Thread& thread);
  // Records that one thread creates, or joins, another. REQUIRES: the other thread has a name.
  void create(Thread& creator, Thread& created);
  void join(Thread& joiner, Thread& joined);

  // Opens or closes the window if it depends on this function. REQUIRES: called before the operation that enters it.
  void entering(const std::string& function);
  // Writes the operation if it is in the window, and returns whether it did. REQUIRES: `thread` is updated only afterwards.
  bool append(Thread& thread, const trace::Operation& operation);
  // Writes the operation for all of these threads or for none: if the first one's is in the window.
  void append_to_all(std::span<Thread* const> threads, const trace::Operation& operation);
  // The thread has executed this many instructions since its latest operation; if they are counted, accesses included.
  void executed(Thread& thread, std::uint64_t instructions);
  // Like append(), but also writes after the end of the window.
  void append_after_all(Thread& thread, const trace::Operation& operation);

  enum class State { before, open, closed };
  [[nodiscard]] State state() const { return state_; }
  // Releases locks that threads still hold.
  void finish();
  [[nodiscard]] std::uint64_t operations() const { return written_; }

  // `of`: the window's threads. `threads`: those of them that ran at the same time as no other although nothing in the trace
  // prevents it. Such a thread was created while another was alive but ended before that one began, or the reverse.
  struct Apart {
    std::size_t threads = 0, of = 0;
  };
  [[nodiscard]] Apart threads_apart() const;
  // Whether at least two recorded threads are running.
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
  Instructions instructions_;
  bool waits_for_function_, waits_for_time_;
  bool has_times_;  // of the window
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now(), opened_ = began_;
  std::uint64_t asked_ = 0;  // number of calls of append(), inside the window or not
  std::uint64_t offered_ = 0;
  std::uint64_t written_ = 0;
  int alive_ = 0;                                 // threads
  std::uint64_t lives_ = 0;                       // clock for Thread::created, began and ended
  std::vector<std::unique_ptr<Thread>> threads_;  // by number
};

}  // namespace linebounce::record
