// One interleaving of CPUs that take a lock: which steps are possible, and whether a property of the lock is broken.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/interleavings/checked_cpu.hpp"
#include "workloads/locks/cpu_objects.hpp"
#include "workloads/locks/lock.hpp"
#include "workloads/locks/lock_registry.hpp"
#include "workloads/program/address_space.hpp"

namespace linebounce::sim {

// What a CPU does with the lock. tries: it calls try_acquire(), and afterwards acquire(), which must still work.
enum class Role : std::uint8_t { writes, reads, tries };

struct LockCase {
  const workloads::LockEntry* lock = nullptr;
  std::vector<Role> roles = {Role::writes, Role::writes};  // by CPU
  int acquisitions = 1;                                    // of each CPU
  Consistency consistency = Consistency::sc;
  bool is_extra = false;      // it may exceed the limit of states without a loss
  bool counts_turns = false;  // it leaves a loop that sees no change: none may be taken to wait

  [[nodiscard]] int cpus() const { return static_cast<int>(roles.size()); }
  [[nodiscard]] bool has_readers() const { return std::ranges::find(roles, Role::reads) != roles.end(); }
  [[nodiscard]] bool has_tries() const { return std::ranges::find(roles, Role::tries) != roles.end(); }
};

// One step of the search: of the CPU's program, or a store in its buffer reaches memory.
struct Choice {
  static constexpr int kProgram = -1;
  int cpu = 0;
  int drains = kProgram;    // place in the buffer
  bool is_private = false;  // nobody else can notice it, so it needs no alternative
  Value drawn = 0;          // what a draw of the program gives
};

// reads_late: it releases the lock, but by stores alone that its section's loads may pass.
enum class Where : std::uint8_t { outside, acquires, writes, reads, reads_late, releases };

// What there is after a step, as people read it.
struct LockState {
  std::vector<std::pair<std::string, std::string>> memory;  // words that were written, and what they hold
  std::vector<std::vector<std::string>> buffers;            // by CPU, the oldest first: "lock.turn = 1"
  std::vector<int> inside;                                  // CPUs that hold the lock
};

// Of a draw with more values, the first ones and the last are tried. After so many free draws a CPU gets the values in turn.
inline constexpr Value kTriedValues = 4;
inline constexpr int kFreeDraws = 3;

class LockRun : private workloads::Draws {
 public:
  explicit LockRun(const LockCase& lock_case);

  // Empty: it has ended, or nobody can go on. Where nothing else is left, a loop is tried again, up to `steps` steps of a CPU.
  // `reduced`: a private step alone stands for all.
  [[nodiscard]] std::vector<Choice> choices(bool reduced, int steps) const;
  // Errors: NotCheckable.
  void take(const Choice& choice);
  // The lock's property that is broken, or the error that its code has met, as a sentence; empty: none.
  [[nodiscard]] const std::string& violation() const { return violation_; }
  [[nodiscard]] bool has_ended() const;  // every program, and nothing is buffered
  [[nodiscard]] Digest digest() const;
  [[nodiscard]] Digest known_to(int cpu) const;  // CheckedCpu::add_to
  // CPUs that are taken to wait, since their latest turns of a loop have all seen the same. / Whether one leaves the loop
  // though nothing changes, within so many turns. This run is of no further use then.
  [[nodiscard]] std::vector<int> looping() const;
  [[nodiscard]] bool leaves_loop(int cpu, int turns);
  // What a CPU that can't go on waits for: "CPU 1 waits for lock.serving".
  [[nodiscard]] std::string waiting() const;
  // How often a CPU that already waited was passed by one that came later.
  [[nodiscard]] int most_passed() const { return most_passed_; }
  [[nodiscard]] int longest() const;  // steps of one CPU
  // Whether a draw had more than kTriedValues values, or a CPU more than kFreeDraws draws.
  [[nodiscard]] bool has_left_out_draws() const { return has_left_out_draws_; }

  // The latest step as people read it: "exchange lock.tail = &node[1]: was 0". REQUIRES: describe_steps() came before it.
  [[nodiscard]] const std::string& latest() const { return latest_; }
  void describe_steps() { describes_ = true; }
  [[nodiscard]] LockState state() const;

 private:
  std::uint64_t below(Cpu& cpu, std::uint64_t bound) override;
  std::unique_ptr<workloads::Lock> create_lock();
  void add_draws(const CheckedCpu& cpu, std::vector<Choice>& found) const;
  void guarded(const std::function<void()>& step);
  void do_step(const Choice& choice);
  void run(CheckedCpu& cpu);
  void write(CheckedCpu& cpu);
  void read(CheckedCpu& cpu);
  void attempt(CheckedCpu& cpu);
  void change_data(CheckedCpu& cpu);
  [[nodiscard]] bool is_quiet(int cpu) const;
  static std::size_t index(const CheckedCpu& cpu) { return cpu.id().value; }
  void arrive(const CheckedCpu& cpu);
  void enter(const CheckedCpu& cpu, bool alone);
  void leave(CheckedCpu& cpu);
  [[nodiscard]] bool reads_late(const CheckedCpu& cpu) const { return where_[index(cpu)] == Where::reads_late; }
  void give_back(const CheckedCpu& cpu);
  [[nodiscard]] std::string place_name(Address address) const;
  [[nodiscard]] std::string value_name(Value value) const;
  [[nodiscard]] std::string step_name(const Request& request, Value seen) const;

  LockCase case_;
  LineStore store_{64};
  workloads::AddressSpace space_{store_};
  workloads::CpuObjects per_cpu_;
  std::unique_ptr<workloads::Lock> lock_;
  Address data_;
  std::optional<CheckedMemory> memory_;
  std::vector<CheckedCpu*> all_;
  std::vector<std::unique_ptr<CheckedCpu>> cpus_;
  std::vector<Where> where_;              // by CPU
  std::vector<bool> comes_;               // by CPU: its next step is the first one for the lock
  std::vector<bool> has_waited_;          // by CPU: in its present acquisition
  std::vector<bool> undisturbed_;         // by CPU: during its present try, nobody else has had to do with the lock
  int written_ = 0;                       // updates of the data
  std::vector<std::vector<int>> waited_;  // by CPU: who waited when it came
  std::vector<int> passed_;               // by CPU: how often, in its present wait
  int most_passed_ = 0;
  std::string violation_, latest_;
  bool describes_ = false;
  bool has_left_out_draws_ = false;
};

}  // namespace linebounce::sim
