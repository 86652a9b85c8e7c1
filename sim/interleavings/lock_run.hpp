// One interleaving of CPUs that take a lock: which steps are possible next, and which property is broken, if any.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/interleavings/checked_cpu.hpp"
#include "workloads/locks/cpu_objects.hpp"
#include "workloads/locks/lock.hpp"
#include "workloads/locks/lock_registry.hpp"
#include "workloads/program/address_space.hpp"

namespace linebounce::sim {

// How a CPU uses the lock. tries: it calls try_acquire() first, and then acquire(), which must still work.
enum class Role : std::uint8_t { writes, reads, tries };

// The machine's model of the same name. REQUIRES: the model is not c11.
[[nodiscard]] constexpr Consistency machine_model(workloads::MemoryModel model) {
  return static_cast<Consistency>(model);
}
[[nodiscard]] constexpr workloads::MemoryModel memory_model(Consistency model) {
  return static_cast<workloads::MemoryModel>(model);
}
[[nodiscard]] inline std::string name_of_model(workloads::MemoryModel model) {
  return std::string(workloads::kMemoryModels[static_cast<std::size_t>(model)]);
}

struct LockCase {
  const workloads::LockEntry* lock = nullptr;
  std::vector<Role> roles = {Role::writes, Role::writes};  // by CPU
  int acquisitions = 1;                                    // by each CPU
  workloads::MemoryModel model = workloads::MemoryModel::sc;
  bool is_extra = false;  // true: the search counts as complete even if this case exceeds the limit on states
  EndingLoops ending = {};
  // For c11: which bytes form one cell, as far as earlier runs have shown. If null, a run finds out for itself.
  WordCells* cells = nullptr;
  std::set<int>* ran = nullptr;  // receives the numbers of the lock's operations that run (LockEntry::operations)

  [[nodiscard]] int cpus() const { return static_cast<int>(roles.size()); }
  [[nodiscard]] bool has_readers() const { return std::ranges::find(roles, Role::reads) != roles.end(); }
  [[nodiscard]] bool has_tries() const { return std::ranges::find(roles, Role::tries) != roles.end(); }
};

// The bytes of memory that a step reads or changes. None: it touches none, or more than memory.
struct TouchedBytes {
  Address address = 0;
  int bytes = 0;
};

// One step of the search: a CPU's program executes an operation, or a buffered store drains.
struct Choice {
  static constexpr int kProgram = -1;
  int cpu = 0;
  int drains = kProgram;    // position in the buffer
  bool is_private = false;  // no other CPU can notice this step, so the search tries no alternative to it
  Value drawn = 0;          // for a draw, a look at the clock, or a weak compare-exchange: see CheckedCpu::step
  int place = 0;            // under c11, one of CheckedCpu::places()
  bool is_old = false;      // under c11: not the newest place
  bool times_out = false;   // a wait ends because seconds pass: the CPU runs its loop on alone until it leaves it
};

// reads_late: a reader is releasing the lock by stores, but loads of its section may complete after these stores.
enum class Where : std::uint8_t { outside, acquires, writes, reads, reads_late, releases };

// The state after a step, as text.
struct LockState {
  std::vector<std::pair<std::string, std::string>> memory;  // all words ever written, with their values
  std::vector<std::vector<std::string>> buffers;            // buffered stores by CPU, the oldest first: "lock.turn = 1"
  std::vector<int> inside;                                  // CPUs that hold the lock
};

// A draw is tried with its first few values and its last one. From its draw number kFreeDraws on, a CPU gets one value for
// each draw, all values in turn.
inline constexpr Value kTriedValues = 4;
inline constexpr int kFreeDraws = 3;
// In one call of the lock, a second may pass so many times for a CPU. After that it passes only if it must, or if no CPU can do
// anything else.
inline constexpr int kFreeSeconds = 2;
// A loop counts as waiting if a CPU does not leave it in this many iterations while nothing changes.
inline constexpr int kProbedTurns = 200;
// The same before it is called a deadlock that every CPU is in such a loop. Of a long loop, fewer iterations are run.
inline constexpr int kTurnsBeforeDeadlock = 200'000;
inline constexpr std::int64_t kMostStepsAlone = 1'000'000;

class LockRun : private workloads::Draws {
 public:
  explicit LockRun(const LockCase& lock_case);

  // The possible next steps. Empty if the run has ended or no CPU can continue, as when each waits in a loop. A wait may still
  // time out if its CPU has taken fewer than `steps` steps. `reduced`: a private step is returned as the only choice.
  [[nodiscard]] std::vector<Choice> choices(bool reduced, int steps) const;
  // Errors: NotCheckable.
  void take(const Choice& choice);
  // The bytes that a step touches. A program's store touches them when it drains, unless there are no buffers.
  [[nodiscard]] TouchedBytes touched(const Choice& choice) const;
  // True under c11 if the step is a full fence besides, so that it exchanges views of all cells with other CPUs.
  [[nodiscard]] bool shares_views(const Choice& choice) const;
  // Everything outside of memory by which a CPU's step can affect other CPUs or a check: who is inside, who waits, who is
  // woken. Two steps of different CPUs commute if they touch different bytes and one of them leaves this as it is.
  [[nodiscard]] Digest noticeable() const;
  // The broken property or the error in the lock's code, as a sentence; empty if there is none.
  [[nodiscard]] const std::string& violation() const { return violation_; }
  [[nodiscard]] bool has_ended() const;  // true if every program has ended and no store is buffered
  [[nodiscard]] Digest digest() const;
  [[nodiscard]] Digest known_to(int cpu) const;  // see CheckedCpu::add_to
  // CPUs that count as waiting, because the last iterations of their loops saw the same values.
  [[nodiscard]] std::vector<int> looping() const;
  [[nodiscard]] std::vector<Address> loop_of(int cpu) const { return all_[cpu]->loop(); }
  // Runs only this CPU, which is in a loop. Returns true if it leaves the loop within `turns` iterations although no word
  // changes. No time passes, or, if `time_passes`, a second between two looks at the clock. The run can't be used afterwards.
  [[nodiscard]] bool leaves_loop(int cpu, bool time_passes, int turns = kProbedTurns) {
    return runs_on_out_of_loop(*all_[cpu], time_passes, turns);
  }
  // True if leaves_loop() has met a look at the clock.
  [[nodiscard]] bool loop_reads_clock() const { return loop_reads_clock_; }
  // What the blocked CPUs wait for: "CPU 1 waits for lock.serving".
  [[nodiscard]] std::string waiting() const;
  // The largest number of times that a waiting CPU was overtaken by CPUs that came later.
  [[nodiscard]] int most_passed() const { return most_passed_; }
  [[nodiscard]] int longest() const;  // the largest number of steps that one CPU took
  // True if a draw had more than kTriedValues values, or a CPU made more than kFreeDraws draws.
  [[nodiscard]] bool has_left_out_draws() const { return has_left_out_draws_; }
  // True if a second could have passed for a CPU that had had kFreeSeconds.
  [[nodiscard]] bool has_left_out_seconds() const { return has_left_out_seconds_; }

  // The latest step as text: "exchange lock.tail = &node[1]: was 0". REQUIRES: describe_steps() was called before that step.
  [[nodiscard]] const std::string& latest() const { return latest_; }
  void describe_steps() { describes_ = true; }
  [[nodiscard]] LockState state() const;

 private:
  std::uint64_t below(Cpu& cpu, std::uint64_t bound) override;
  std::optional<Value> compare_exchange_weak(Cpu& cpu, Address address, Value expected, Value desired, int bytes) override;
  void ran(int operation) override;
  std::unique_ptr<workloads::Lock> create_lock();
  // The object at an address, and the one that a value points into; -1: none.
  [[nodiscard]] int object_at(Address address) const;
  [[nodiscard]] int object_of(Value value) const;
  void add_places(const CheckedCpu& cpu, bool fails, std::vector<Choice>& found) const;
  void add_own_steps(const CheckedCpu& cpu, std::vector<Choice>& found) const;
  void add_draws(const CheckedCpu& cpu, std::vector<Choice>& found) const;
  bool runs_on_out_of_loop(CheckedCpu& looping, bool time_passes, int turns);
  void time_out(CheckedCpu& cpu);
  void guarded(const std::function<void()>& step);
  void do_step(const Choice& choice);
  void add_checks(Digest& digest) const;
  void run(CheckedCpu& cpu);
  // Places between two calls of the lock.
  enum class Place : std::uint8_t { before_all, after_try, before_write, inside };
  void forget(CheckedCpu& cpu, Place place);
  void write(CheckedCpu& cpu);
  void read(CheckedCpu& cpu);
  void attempt(CheckedCpu& cpu);
  void change_data(CheckedCpu& cpu);
  [[nodiscard]] bool is_quiet(int cpu) const;
  static std::size_t index(const CheckedCpu& cpu) { return cpu.id().value; }
  void arrive(const CheckedCpu& cpu);
  void enter(const CheckedCpu& cpu, bool alone);
  void leave(CheckedCpu& cpu);
  [[nodiscard]] ViewMemory::Word end_of_reading(int cpu) const { return {ends_of_reading_ + 8 * static_cast<Address>(cpu), 8}; }
  void note_end_of_reading(int cpu);
  [[nodiscard]] bool may_still_read(int reader, int writer) const;
  [[nodiscard]] bool reads_late(const CheckedCpu& cpu) const { return where_[index(cpu)] == Where::reads_late; }
  void give_back(const CheckedCpu& cpu);
  [[nodiscard]] std::string place_name(Address address) const;
  [[nodiscard]] std::string value_name(Value value) const;
  [[nodiscard]] std::string weak_remark(const Request& request, const Choice& choice) const;
  [[nodiscard]] std::string step_name(const Request& request, Value seen) const;

  LockCase case_;
  Tick clock_ = 0;
  LineStore store_{64};
  workloads::AddressSpace space_{store_};
  workloads::CpuObjects per_cpu_;
  std::unique_ptr<workloads::Lock> lock_;
  Address data_;
  Address ends_of_reading_;  // a word for each CPU, which the lock's code does not know
  std::optional<CheckedMemory> memory_;
  WordCells own_cells_;
  std::optional<ViewMemory> views_;  // under c11; memory_ then stays empty
  std::vector<CheckedCpu*> all_;
  std::vector<std::unique_ptr<CheckedCpu>> cpus_;
  std::vector<Where> where_;              // by CPU
  std::vector<bool> comes_;               // by CPU: its next step is its first at the lock
  std::vector<bool> has_waited_;          // by CPU: it has waited in its present acquisition
  std::vector<bool> undisturbed_;         // by CPU: no other CPU has used the lock during its present try
  int written_ = 0;                       // number of updates of the protected data
  std::vector<int> round_;                // by CPU: how many acquisitions it has completed
  std::vector<std::vector<int>> waited_;  // by CPU: the CPUs that were already waiting when it arrived
  std::vector<int> passed_;               // by CPU: how often it was overtaken in its present wait
  int most_passed_ = 0;
  std::string violation_, latest_;
  bool describes_ = false;
  bool has_left_out_draws_ = false, has_left_out_seconds_ = false;
  bool has_read_clock_ = false;  // before the first look, no CPU knows a time, so it does not matter which one it is
  bool loop_reads_clock_ = false;
};

}  // namespace linebounce::sim
