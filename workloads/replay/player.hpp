// A CPU that replays: its threads' and interrupt handlers' operations become calls of Cpu.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "models/core/cpu.hpp"
#include "trace/reader.hpp"
#include "workloads/program/random.hpp"
#include "workloads/replay/places.hpp"
#include "workloads/replay/recorded_tries.hpp"

namespace linebounce::workloads {

// What all CPUs of a replay share: who is where, and what was found.
struct ReplayContext {
  const trace::Reader& trace;
  ReplayPlaces& places;
  LockSet& locks;
  std::vector<int> cpu_of;  // by a recorded CPU's number
  std::uint64_t order = 0;  // 0: as recorded
  // Only a trace with tries pays for the pass over its operations.
  const RecordedTries& tries() {
    if (!recorded_tries) recorded_tries = std::make_unique<RecordedTries>(trace);
    return *recorded_tries;
  }
  // What was not as it was when recorded, and what was done. Each CPU counts for itself.
  struct Differences {
    std::int64_t tries = 0;             // each wait by tries counts once
    std::int64_t tries_otherwise = 0;   // by which the program would go another way than it went
    std::int64_t reads_again = 0;       // sections of readers that had to be read again now
    std::int64_t handlers_missing = 0;  // interrupts for which the trace has no handler any more
    std::int64_t operations = 0, measured_operations = 0;
    std::int64_t tallies = 0;  // operations of that kind
  };
  std::vector<Differences> differences;  // by CPU
  std::unique_ptr<RecordedTries> recorded_tries = {};
};

// One stream's operations, in order.
class OperationCursor {
 public:
  OperationCursor(const trace::Reader& trace, std::uint32_t stream) : cursor_(trace.open(stream)) {}

  // Null: there are no more.
  const trace::Operation* peek() {
    if (at_ == frame_.size()) refill();
    return at_ == frame_.size() ? nullptr : &frame_[at_];
  }
  void advance() { ++at_; }
  // Of the operation that peek() returns.
  [[nodiscard]] std::uint64_t number() const { return cursor_.first() + at_; }

  // All that is there without reading on.
  [[nodiscard]] std::span<const trace::Operation> rest() const { return frame_.subspan(at_); }

 private:
  void refill() {
    frame_ = cursor_.frame();
    at_ = 0;
  }
  trace::Reader::Cursor cursor_;
  std::span<const trace::Operation> frame_;
  std::size_t at_ = 0;
};

// What a thread waits for in memory: a word's count to come to a number, or a word to change.
struct WantedWord {
  Address address = 0;
  int bytes = 8;
  Value number = 0;
  bool other = false;  // than `number`

  // Whether the own store buffer has served the load (Cpu::write_adding); words of fewer bytes don't tell.
  [[nodiscard]] bool is_forwarded(Value value) const { return bytes == 8 && value >> 63 != 0; }
  [[nodiscard]] bool has_come(Value value) const {
    if (other) return value != number;
    if (is_forwarded(value)) return false;
    // Counts may have gone round in a small word.
    const int bits = 8 * bytes;
    const Value mask = bytes == 8 ? ~Value{0} : (Value{1} << bits) - 1;
    return ((value - number) & mask) >> (bits - 1) == 0;
  }
};

// A thread, or a handler that runs: what it is in the middle of.
struct ReplayThread {
  std::uint32_t stream = 0;
  std::optional<OperationCursor> operations;
  std::vector<FunctionId> callers;
  FunctionId inside = 0;                 // while another thread of its CPU runs: the function that it is in
  std::vector<std::uint32_t> not_had;    // locks that the trace holds and this thread does not
  bool tries = false, gives_up = false;  // waits for another thread of its CPU by trying; has been told not to
  // A lock that the trace holds as a reader and this thread alone: readers who take it again have it already.
  struct HeldAlone {
    std::uint32_t lock = 0;
    int again = 0;
  };
  std::vector<HeldAlone> held_alone;
  // Of a section whose readers may have to read again: its operations so far.
  std::optional<std::uint32_t> reads_again_with;
  std::vector<trace::Operation> section;
  std::vector<trace::Operation> awaited;  // a group, until it is whole
  std::optional<trace::Operation> first_of_pair;
  std::vector<WantedWord> wanted;           // where it waits while others of its CPU run; any of them ends it
  std::optional<std::uint64_t> generation;  // of the barrier at which it waits; arrived already
  bool begun = false, ended = false;
  Tick ended_at = 0;
};

class ReplayCpu {
 public:
  ReplayCpu(ReplayContext& context, int number, std::vector<std::uint32_t> streams);

  // The program of this CPU.
  void run(Cpu& cpu);
  // Handlers of an interrupt vector.
  void add_handlers(int vector, std::uint32_t stream);

  [[nodiscard]] const std::vector<ReplayThread>& threads() const { return threads_; }
  // Handlers that no interrupt has asked for. Reads the rest of their streams. REQUIRES: the simulation is over.
  [[nodiscard]] std::int64_t handlers_left();

 private:
  void run_folded(Cpu& cpu);
  void wait_for_any(Cpu& cpu);
  bool give_up_a_try();
  void count(const Cpu& cpu, std::int64_t operations);
  // True: it has ended; false: it waits.
  bool run_on(Cpu& cpu, ReplayThread& thread);
  bool begin(Cpu& cpu, ReplayThread& thread);
  void end(Cpu& cpu, ReplayThread& thread);
  void interrupted(Cpu& cpu, int vector);
  void take_last_handlers(Cpu& cpu);
  [[nodiscard]] bool has_handlers();

  // Does it, but for what must wait while another thread of this CPU could run: then false, and it is to be done again.
  bool step(Cpu& cpu, ReplayThread& thread, const trace::Operation& operation);
  void access(Cpu& cpu, ReplayThread& thread, const trace::Operation& operation);
  void load(Cpu& cpu, ReplayThread& thread, const trace::Operation& operation, Address address);
  void write(Cpu& cpu, const trace::Operation& operation, Address address, std::uint64_t offset);
  bool use_count(Cpu& cpu, const trace::Operation& operation, std::uint64_t offset);
  bool use_lock(Cpu& cpu, ReplayThread& thread, const trace::Operation& operation);
  bool take(Cpu& cpu, ReplayThread& thread, const trace::Operation& operation);
  bool take_by_tries(Cpu& cpu, ReplayThread& thread, trace::Operation operation);
  void fail_again(Cpu& cpu, const trace::Operation& operation);
  bool play_gap(Cpu& cpu, ReplayThread& thread, const MeteredLock& lock, const TryHabit& habit,
                std::optional<std::uint64_t> end);
  void skip_to(Cpu& cpu, ReplayThread& thread, std::uint64_t end);
  void took_shared(ReplayThread& thread, const trace::Operation& operation);
  // In other orders than the recorded one: before what threads meet at.
  void delay(Cpu& cpu);
  [[nodiscard]] bool is_kept_by_another(const MeteredLock& lock, const trace::Operation& operation) const;
  void give(Cpu& cpu, ReplayThread& thread, const trace::Operation& operation);
  void read_again(Cpu& cpu, ReplayThread& thread, MeteredLock& lock, bool outermost);
  void use_processor(Cpu& cpu, const trace::Operation& operation);
  bool wait_for(Cpu& cpu, ReplayThread& thread, const WantedWord& word);
  bool await(Cpu& cpu, ReplayThread& thread, const trace::Operation& operation);
  void spin_for_any(Cpu& cpu, const std::vector<trace::Operation>& awaited);
  bool meet(Cpu& cpu, ReplayThread& thread, const trace::Operation& operation);
  void sleep(Cpu& cpu, const trace::Operation& operation) const;
  bool await_folded(Cpu& cpu, ReplayThread& thread, const std::vector<WantedWord>& words);
  void count_own_write(std::uint32_t object, std::uint64_t offset, int bytes);
  [[nodiscard]] WantedWord word_of(const trace::Operation& await) const;

  ReplayContext& context_;
  int number_;
  Random delays_;
  std::vector<ReplayThread> threads_;
  struct Handlers {
    OperationCursor operations;
    std::uint32_t stream;
  };
  std::map<int, Handlers> handlers_;  // by vector
  // Locks that threads of this CPU hold, if there are several: by one alone, or by so many readers.
  struct Held {
    bool alone = false;
    int readers = 0;
  };
  std::map<std::uint32_t, Held> held_here_;
  // What awaits look at now, on this CPU, with how many writes its handlers have made since.
  struct OwnWrites {
    trace::Word word;
    int count = 0;
  };
  std::vector<OwnWrites*> own_writes_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, int> batched_;  // adds to batched counts so far, by object and offset
  bool programs_are_over_ = false;                                  // of all threads here
  bool folded_ = false;
};

}  // namespace linebounce::workloads
