#include "record/collector/trace_output.hpp"

#include <algorithm>
#include <cmath>

namespace linebounce::record {
namespace {

using trace::Kind;
using trace::Operation;

// Assumed number of instructions around an access, as in a simple loop, where their time is too short to be measured.
constexpr int kInstructionsOfAccess = 2;
// Likewise, of a call: call, return, and what the function does to its frame.
constexpr int kInstructionsOfCall = 4;
// Instructions are written in groups: one operation per access would double the trace's size.
constexpr int kInstructionsAtOnce = 16;
// An instruction may access memory more than once: a few accesses are taken from the instructions that follow. Those of a
// string instruction, which may be thousands, are not.
constexpr std::int64_t kMostOwed = -16;
// As many are written before a function is entered or left, so that they count as the right one's.
constexpr int kInstructionsOfFunction = 64;
// Operations between two readings of the clock: a reading takes as long as an operation.
constexpr std::uint64_t kOperationsForALook = 16;

}  // namespace

TraceOutput::TraceOutput(BackgroundWriter& writer, Window window, Instructions instructions)
    : writer_(&writer),
      window_(std::move(window)),
      instructions_(instructions),
      waits_for_function_(!window_.from.empty()),
      waits_for_time_(window_.after_s > 0),
      has_times_(waits_for_time_ || std::isfinite(window_.for_s)) {
  if (window_.skip == 0 && !waits_for_function_ && !waits_for_time_) state_ = State::open;
}

Thread& TraceOutput::thread(std::uint64_t number) {
  while (threads_.size() <= number) threads_.push_back(std::make_unique<Thread>());
  return *threads_[number];
}

void TraceOutput::define_stream(Thread& thread, bool created) {
  trace::Stream stream;
  stream.name = thread.name;
  stream.created = created;
  thread.stream = writer_->define(stream);
}

void TraceOutput::begin(Thread& thread) {
  thread.is_alive = true;
  ++alive_;
  thread.began = ++lives_;
  if (state_ == State::open && thread.stream == trace::kNone) define_stream(thread, false);
}

void TraceOutput::end(Thread& thread) {
  if (state_ == State::open) {
    if (thread.stream != trace::kNone) write_instructions(thread);
    release_all(thread);
  }
  thread.is_alive = false;
  --alive_;
  thread.ended = ++lives_;
  thread.held.clear();
  thread.functions.clear();
}

void TraceOutput::create(Thread& creator, Thread& created) {
  if (!is_in_window()) return;
  define_stream(created, true);
  created.created = ++lives_;
  write(creator, {.kind = Kind::create, .id = created.stream});
}

void TraceOutput::join(Thread& joiner, Thread& joined) {
  if (is_in_window() && joined.stream != trace::kNone) write(joiner, {.kind = Kind::join, .id = joined.stream});
}

bool TraceOutput::append(Thread& thread, const Operation& operation) {
  if (!is_in_window()) return false;
  write(thread, operation);
  return true;
}

void TraceOutput::executed(Thread& thread, std::uint64_t instructions) {
  if (state_ == State::open && thread.stream != trace::kNone) thread.instructions += static_cast<std::int64_t>(instructions);
}

void TraceOutput::append_to_all(std::span<Thread* const> threads, const Operation& operation) {
  bool is_in = false;
  for (Thread* thread : threads) {
    const bool is_now = is_in_window();
    if (thread == threads.front()) is_in = is_now;
    if (is_in) append_after_all(*thread, operation);
  }
}

void TraceOutput::append_after_all(Thread& thread, const Operation& operation) {
  if (thread.stream != trace::kNone) write(thread, operation);
}

void TraceOutput::entering(const std::string& function) {
  if (state_ == State::before && function == window_.from) waits_for_function_ = false;
  if (state_ == State::open && function == window_.until) close();
}

void TraceOutput::look_at_clock() {
  using Seconds = std::chrono::duration<double>;
  const auto now = std::chrono::steady_clock::now();
  if (Seconds(now - began_).count() >= window_.after_s) waits_for_time_ = false;
  if (state_ == State::open && Seconds(now - opened_).count() >= window_.for_s) close();
}

bool TraceOutput::is_in_window() {
  if (has_times_ && asked_++ % kOperationsForALook == 0) look_at_clock();
  if (waits_for_function_ || waits_for_time_) return false;
  ++offered_;
  if (state_ == State::before && offered_ > window_.skip) open();
  if (state_ == State::open && offered_ - window_.skip > window_.count) close();
  return state_ == State::open;
}

void TraceOutput::open() {
  state_ = State::open;
  opened_ = std::chrono::steady_clock::now();
  for (const auto& thread : threads_) {
    if (!thread->is_alive) continue;
    define_stream(*thread, false);
    for (const std::uint32_t function : thread->functions) write(*thread, {.kind = Kind::enter, .id = function});
    for (const HeldLock& held : thread->held) {
      write(*thread, {.kind = held.is_shared ? Kind::acquire_shared : Kind::acquire, .id = held.lock});
    }
  }
}

void TraceOutput::close() {
  for (const auto& thread : threads_) {
    if (thread->is_alive) release_all(*thread);
  }
  state_ = State::closed;
}

void TraceOutput::finish() {
  if (state_ == State::open) close();
}

TraceOutput::Apart TraceOutput::threads_apart() const {
  struct Life {
    std::uint64_t began, ended, created;
  };
  std::vector<Life> lives;
  for (const auto& thread : threads_) {
    if (thread->created == 0 || thread->began == 0) continue;
    lives.push_back({thread->began, thread->ended == 0 ? UINT64_MAX : thread->ended, thread->created});
  }
  std::ranges::sort(lives, [](const Life& a, const Life& b) { return a.began < b.began; });
  // For each thread: the earliest creation among the threads that begin after it.
  std::vector<std::uint64_t> created_later(lives.size() + 1, UINT64_MAX);
  for (std::size_t i = lives.size(); i-- > 0;) created_later[i] = std::min(created_later[i + 1], lives[i].created);
  Apart apart{0, lives.size()};
  std::uint64_t ended_before = 0;  // latest end among the threads that began before this one
  for (std::size_t i = 0; i < lives.size(); ++i) {
    const bool alone = ended_before < lives[i].began && (i + 1 == lives.size() || lives[i].ended < lives[i + 1].began);
    const bool kept_apart = lives[i].created > ended_before && created_later[i + 1] > lives[i].ended;
    apart.threads += alone && !kept_apart ? 1 : 0;
    ended_before = std::max(ended_before, lives[i].ended);
  }
  return apart;
}

void TraceOutput::release_all(Thread& thread) {
  if (thread.stream == trace::kNone) return;
  for (auto held = thread.held.rbegin(); held != thread.held.rend(); ++held) {
    write(thread, {.kind = held->is_shared ? Kind::release_shared : Kind::release, .id = held->lock});
  }
}

void TraceOutput::write(Thread& thread, const Operation& operation) {
  const bool is_counted = instructions_ == Instructions::counted;
  if (operation.is_memory()) {
    const int accesses = 1 + operation.repeats();
    if (!is_counted) thread.instructions += std::int64_t{kInstructionsOfAccess} * accesses;
    if (thread.instructions >= kInstructionsAtOnce) write_instructions(thread);
    if (is_counted) thread.instructions = std::max(thread.instructions - accesses, kMostOwed);
  } else if (operation.kind != Kind::enter && operation.kind != Kind::leave) {
    write_instructions(thread);
  } else {
    if (is_counted || thread.instructions >= kInstructionsOfFunction) write_instructions(thread);
    if (!is_counted && operation.kind == Kind::enter) thread.instructions += kInstructionsOfCall;
  }
  writer_->append(thread.stream, operation);
  ++written_;
}

void TraceOutput::write_instructions(Thread& thread) {
  if (thread.instructions <= 0) return;
  writer_->append(thread.stream, {.kind = Kind::execute,
                                  .argument = std::min(static_cast<std::uint64_t>(thread.instructions), trace::kMostCount)});
  ++written_;
  thread.instructions = 0;
}

}  // namespace linebounce::record
