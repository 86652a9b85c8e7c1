// Replays one CPU's threads and interrupt handlers as calls of Cpu.
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
#include "workloads/replay/recorded_pace.hpp"
#include "workloads/replay/recorded_tries.hpp"

namespace linebounce::workloads {

// State shared by all CPUs of a replay: the places of threads and objects, and differences from the recording.
struct ReplayContext {
  const trace::Reader& trace;
  ReplayPlaces& places;
  LockSet& locks;
  std::vector<int> cpu_of;           // by a recorded CPU's number
  std::uint64_t order = 0;           // 0: as recorded
  double cycles_of_ns = 1;           // of the machine's clock
  std::optional<RecordedPace> pace;  // of a recorded program whose instructions are known
  // Computed on first use: only a trace with tries pays for the pass over its operations.
  const RecordedTries& tries() {
    if (!recorded_tries) recorded_tries = std::make_unique<RecordedTries>(trace);
    return *recorded_tries;
  }
  // Differences from the recording, and operations done. Each CPU counts its own.
  struct Differences {
    std::int64_t tries = 0;  // a wait by tries counts once
    // Tries with another outcome than recorded, after which the real program would have taken another path.
    std::int64_t tries_otherwise = 0;
    std::int64_t reads_again = 0;       // readers' sections that the replay had to read again
    std::int64_t handlers_missing = 0;  // interrupts for which the trace has no more handlers
    std::int64_t operations = 0, measured_operations = 0;
    std::int64_t tallies = 0;  // the workload's own events
  };
  std::vector<Differences> differences;  // by CPU
  std::unique_ptr<RecordedTries> recorded_tries = {};
};

// One stream's operations, in order.
class OperationCursor {
 public:
  OperationCursor(const trace::Reader& trace, std::uint32_t stream) : cursor_(trace.open(stream)) {}

  // Null at the end of the stream.
  const trace::Operation* peek() {
    if (at_ == frame_.size()) refill();
    return at_ == frame_.size() ? nullptr : &frame_[at_];
  }
  void advance() { ++at_; }
  // The number of the operation that peek() returns.
  [[nodiscard]] std::uint64_t number() const { return cursor_.first() + at_; }

  // The operations that are available without reading on.
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

// A word that a thread waits for: until the word's count reaches `number`, or until the word changes.
struct WantedWord {
  Address address = 0;
  int bytes = 8;
  Value number = 0;
  bool other = false;  // waits for any value other than `number`

  // Whether the CPU's own store buffer has served the load (Cpu::write_adding); only words of 8 bytes can tell.
  [[nodiscard]] bool is_forwarded(Value value) const { return bytes == 8 && value >> 63 != 0; }
  [[nodiscard]] bool has_come(Value value) const {
    if (other) return value != number;
    if (is_forwarded(value)) return false;
    // A count in a word of fewer than 8 bytes may have wrapped round.
    const int bits = 8 * bytes;
    const Value mask = bytes == 8 ? ~Value{0} : (Value{1} << bits) - 1;
    return ((value - number) & mask) >> (bits - 1) == 0;
  }
};

// The state of a thread, or of a running handler.
struct ReplayThread {
  std::uint32_t stream = 0;
  std::optional<OperationCursor> operations;
  std::vector<FunctionId> callers;
  FunctionId inside = 0;               // the function that the thread is in, while another thread of its CPU runs
  std::vector<std::uint32_t> not_had;  // locks that the thread holds in the trace but not in the replay
  // `tries`: the thread waits for another thread of its CPU by trying. `gives_up`: it has been told to give up.
  bool tries = false, gives_up = false;
  // A lock that only this thread holds, and as a reader in the trace: the thread already has what a further acquisition as a
  // reader would get.
  struct HeldAlone {
    std::uint32_t lock = 0;
    int again = 0;
  };
  std::vector<HeldAlone> held_alone;
  // The operations so far of a section whose reads may have to be repeated.
  std::optional<std::uint32_t> reads_again_with;
  std::vector<trace::Operation> section;
  std::int64_t ahead = 0;                 // see RecordedPace
  std::vector<trace::Operation> awaited;  // a group of awaits, until it is complete
  std::optional<trace::Operation> first_of_pair;
  // the words for which the thread waits while others of its CPU run; any of them ends the wait
  std::vector<WantedWord> wanted;
  std::optional<std::uint64_t> generation;  // the generation of the barrier at which the thread has arrived
  bool begun = false, ended = false;
  Tick ended_at = 0;
};

class ReplayCpu {
 public:
  ReplayCpu(ReplayContext& context, int number, std::vector<std::uint32_t> streams);

  // This CPU's program.
  void run(Cpu& cpu);
  // Adds the handlers of an interrupt vector.
  void add_handlers(int vector, std::uint32_t stream);

  [[nodiscard]] const std::vector<ReplayThread>& threads() const { return threads_; }
  // The number of handlers that no interrupt has started. Reads the rest of their streams. REQUIRES: the simulation is over.
  [[nodiscard]] std::int64_t handlers_left();

 private:
  void run_folded(Cpu& cpu);
  void wait_for_any(Cpu& cpu);
  bool give_up_a_try();
  void count(const Cpu& cpu, std::int64_t operations);
  // Returns true if the thread has ended, false if it waits.
  bool run_on(Cpu& cpu, ReplayThread& thread);
  bool begin(Cpu& cpu, ReplayThread& thread);
  void end(Cpu& cpu, ReplayThread& thread);
  void interrupted(Cpu& cpu, int vector);
  void take_last_handlers(Cpu& cpu);
  [[nodiscard]] bool has_handlers();

  // Performs the operation. Returns false if the operation must wait while another thread of this CPU could run; the caller
  // then repeats it later.
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
  // In orders other than the recorded one, delays the thread at points where threads meet.
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
  void execute(Cpu& cpu, ReplayThread& thread, std::uint64_t instructions) const;
  void wait_outside(Cpu& cpu, std::uint64_t nanoseconds) const;
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
  // How threads of this CPU hold a lock, if several threads share the CPU: one thread alone, or this many readers.
  struct Held {
    bool alone = false;
    int readers = 0;
  };
  std::map<std::uint32_t, Held> held_here_;
  // A word that awaits on this CPU look at now, and how many writes this CPU's handlers have made to it since.
  struct OwnWrites {
    trace::Word word;
    int count = 0;
  };
  std::vector<OwnWrites*> own_writes_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, int> batched_;  // adds to batched counts so far, by object and offset
  bool programs_are_over_ = false;                                  // whether all threads of this CPU have ended
  bool folded_ = false;
};

}  // namespace linebounce::workloads
