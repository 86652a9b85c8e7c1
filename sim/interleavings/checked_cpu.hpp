// A CPU of the lock checker. Its program runs in a fiber that stops before each operation until the search lets it continue.
#pragma once

#include <boost/context/fiber.hpp>
#include <exception>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <vector>

#include "models/core/cpu.hpp"
#include "models/core/cpu_counters.hpp"
#include "sim/interleavings/checked_memory.hpp"
#include "sim/interleavings/view_memory.hpp"

namespace linebounce::sim {

// Thrown if a lock uses a feature that the checker lacks, such as interrupts or timers.
class NotCheckable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// wait: until a word of a spin differs from the value that the spin saw. draw: a random number. clock: a look at the clock.
// mark: a point where other CPUs may run, without an operation.
enum class StepKind : std::uint8_t {
  load,
  store,
  exchange,
  fetch_add,
  compare_exchange,
  fence,
  wait,
  sleep,
  draw,
  clock,
  mark
};

// The operation that a CPU's program will execute next.
struct Request {
  StepKind kind = StepKind::load;
  Address address = 0;
  int bytes = 8;
  Value operand = 0;                    // value to store, add or exchange; for a draw: its bound
  Value expected = 0;                   // for compare_exchange
  bool release = false;                 // for store
  bool weak = false;                    // for compare_exchange: it may fail though it finds `expected`
  std::span<const Address> words = {};  // for wait, with `values`
  std::span<const Value> values = {};
  MemoryOrder order = MemoryOrder::relaxed, if_it_fails = MemoryOrder::relaxed;  // for c11
};

// Loops that a lock leaves though no word changes. A loop is known by the addresses of its operations, in ascending order.
struct EndingLoops {
  using Loops = std::set<std::vector<Address>>;
  Loops counted;  // left after a number of turns: they don't count as waiting, so each number of turns is searched
  bool all_are_counted = false;
  Loops timed;  // left once time has passed: they count as waiting, and the wait may end by a time-out

  [[nodiscard]] bool any_counted() const { return all_are_counted || !counted.empty(); }
  [[nodiscard]] bool counts(const std::vector<Address>& loop) const { return all_are_counted || counted.contains(loop); }
};

class CheckedCpu final : public Cpu {
 public:
  static constexpr int kLongestTurn = 6;  // longest loop that is recognised as waiting, in operations
  // After this many looks at a clock that stands, with no other operation between them, a second passes. So a loop that only
  // waits for the clock ends.
  static constexpr int kMostLooksInARow = 2;

  // `views`: memory under c11, where `memory` stays unused; null under other models. `clock`: the time, which all CPUs share.
  CheckedCpu(int number, CheckedMemory& memory, ViewMemory* views, std::vector<CheckedCpu*>& all, const EndingLoops& ending,
             Tick& clock)
      : number_(number), memory_(&memory), views_(views), all_(&all), ending_(&ending), clock_(&clock) {}

  // Runs the program up to its first request.
  void start(std::function<void(CheckedCpu&)> program);
  [[nodiscard]] bool has_ended() const { return ended_; }
  // REQUIRES: the program has not ended.
  [[nodiscard]] const Request& request() const { return request_; }
  // True if the request can be executed now. False for a wait whose words are unchanged, a sleep, an atomic while stores are
  // buffered, a load that must wait for a buffered store, and another iteration of a loop that would see the same values as the
  // last two.
  [[nodiscard]] bool is_ready() const;
  // True if only another CPU can make the request executable.
  [[nodiscard]] bool waits() const;
  // True if the CPU waits in a loop of plain operations. The search may still try another iteration.
  [[nodiscard]] bool waits_in_loop() const;
  // True if the latest operations form a loop, and the request is its first operation again.
  [[nodiscard]] bool repeats() const { return turn_of_loop() != 0; }
  // That loop's addresses, as in EndingLoops.
  [[nodiscard]] std::vector<Address> loop() const;
  // True if the CPU waits in a loop that it leaves once time has passed. Its stores have had that time to drain.
  [[nodiscard]] bool may_time_out() const;
  // True if the requested look at the clock must find that a second has passed.
  [[nodiscard]] bool time_must_pass() const { return looks_in_a_row_ >= kMostLooksInARow; }
  // How often a second has passed for this CPU in the present call of the lock.
  [[nodiscard]] int seconds() const { return seconds_; }
  // True if no other CPU can notice or prevent this step: a store into the CPU's own buffer, or a fence while the buffer is
  // empty.
  [[nodiscard]] bool is_private() const;
  // True if earlier loads must complete before the request: it releases, or is an atomic operation or a fence.
  [[nodiscard]] bool orders_loads() const { return request_.release || is_atomic(); }
  // Executes the request, and runs the program up to the next one. `drawn`: the result of a draw; for a look at the clock, 1 if
  // a second has passed; for a weak compare-exchange, 1 if it fails for no reason. Errors: whatever the program throws.
  // `place`: under c11, for an access, one of places().
  void step(Value drawn = 0, int place = 0);
  // Under c11, the places in the accessed cell's order of values that the request may read, or that its store may follow, the
  // newest first. `fails`: of a weak compare-exchange that fails for no reason. Otherwise {0}.
  [[nodiscard]] std::vector<int> places(bool fails = false) const;
  // Returns a number from 0 to bound - 1, which the search chooses.
  Value draw(Value bound) { return ask({.kind = StepKind::draw, .operand = bound}); }
  [[nodiscard]] int draws() const { return draws_; }  // number of draws so far
  // The value that the latest operation returned.
  [[nodiscard]] Value result() const { return result_; }
  [[nodiscard]] int steps() const { return steps_; }
  // Adds everything that decides the program's future: the values that it has seen, and whether it has been woken. A program
  // that has ended has none.
  void add_to(Digest& digest) const;
  // Begins the next call of the lock.
  void begin_call() {
    looks_in_a_row_ = seconds_ = 0;
    has_failed_weakly_ = false;
  }
  // Returns the value found if it fails; nothing if it succeeds.
  std::optional<Value> compare_exchange_weak(Address address, Value expected, Value desired, int bytes);
  // True if the operation requested next is a weak compare-exchange that would succeed and may fail instead: once a call.
  [[nodiscard]] bool may_fail_weakly() const;
  // True if a weak compare-exchange has failed for no reason: the latest operation; any in this call.
  [[nodiscard]] bool fails() const { return fails_; }
  [[nodiscard]] bool has_failed_weakly() const { return has_failed_weakly_; }
  // Forgets what the program has seen, because nothing of it is left in its variables. `at`: the place in the program.
  // REQUIRES: a call begins.
  void forget(std::uint64_t at);
  // Counts what the CPU has done since it had taken so many steps, and so many seconds had passed, as one step and one second.
  void count_as_one(int steps, int seconds) {
    steps_ = steps + 1;
    seconds_ = seconds + 1;
  }
  // Lets other CPUs run, without an operation.
  void mark() { ask({.kind = StepKind::mark}); }

  [[nodiscard]] CpuId id() const override { return CpuId(number_); }
  Value load(Address address, int bytes) override {
    return ask({.kind = StepKind::load, .address = address, .bytes = bytes, .order = take_order(MemoryOrder::relaxed).done});
  }
  Pair load_pair(Word first, Word second) override;
  void load_all(std::span<const Word> words, std::span<Value> values) override;
  void store(Address address, Value value, int bytes) override;
  void store_release(Address address, Value value, int bytes) override;
  Value exchange(Address address, Value value, int bytes) override;
  Value fetch_add(Address address, Value addend, int bytes) override;
  Value compare_exchange(Address address, Value expected, Value desired, int bytes) override;
  void fence() override { ask({.kind = StepKind::fence, .order = MemoryOrder::sequential}); }
  void store_fence() override;
  void load_fence() override;
  void order_next(MemoryOrder order, MemoryOrder if_it_fails) override { next_order_ = {order, if_it_fails}; }
  void prefetch(Address, Access) override {}
  void execute(std::int64_t) override {}
  void compute(std::int64_t) override {}
  void invalidate_pages(Address, std::int64_t) override {}
  void spin(std::span<const Address> addresses, std::span<Value> values, SpinCondition done, int bytes, Loop loop) override;
  void sleep() override { ask({.kind = StepKind::sleep}); }
  void wake(CpuId target) override {
    ++(*all_)[target.value]->wakes_;
    if (views_ != nullptr) views_->wake(number_, target.value);
  }

  void set_interrupt_handler(InterruptHandler) override { throw NotCheckable("it handles interrupts"); }
  void disable_interrupts() override {}
  void enable_interrupts() override {}
  void set_timer(double, int) override { throw NotCheckable("it sets a timer"); }
  void interrupt_later(CpuId, int, double) override { throw NotCheckable("it sends interrupts"); }
  void write_adding(OperationKind, Address, Value, int, bool) override { throw NotCheckable("it writes without values"); }

  Tick now() override { return static_cast<Tick>(ask({.kind = StepKind::clock})); }
  [[nodiscard]] Tick local_time() const override { return *clock_; }
  [[nodiscard]] Tick measured(Tick, Tick) const override { return 0; }
  [[nodiscard]] bool measures(Tick) const override { return false; }
  [[nodiscard]] double to_ns(Tick ticks) const override { return static_cast<double>(ticks); }
  FunctionId enter_function(FunctionId function) override { return std::exchange(function_, function); }
  void leave_function(FunctionId caller) override { function_ = caller; }
  [[nodiscard]] FunctionId function() const override { return function_; }
  void tally(int, std::int64_t) override {}
  [[nodiscard]] std::int64_t tallied(int) const override { return 0; }
  [[nodiscard]] const ThreadCounters& counters() const override { return counters_; }
  [[nodiscard]] std::int64_t wakes() const override { return wakes_; }
  [[nodiscard]] bool wake_pending() const override { return wakes_ > slept_; }
  [[nodiscard]] ProgramTap* tap() const override { return nullptr; }
  [[nodiscard]] Timeline* timeline() const override { return nullptr; }

 private:
  // An operation that left memory unchanged, and the value that it saw.
  struct Look {
    StepKind kind;
    Address address;
    int bytes;
    Value operand, expected, seen;
    MemoryOrder order;
  };
  struct Orders {
    MemoryOrder done = MemoryOrder::relaxed, failed = MemoryOrder::relaxed;
  };

  // The order that order_next() has set, or else the operation's own. The next operation has its own again.
  Orders take_order(MemoryOrder own) { return std::exchange(next_order_, {}).value_or(Orders{own, own}); }
  Value perform_weakly(int place, bool& changed);
  [[nodiscard]] bool may_see_other(const Look& look) const;
  [[nodiscard]] std::vector<int> places_of(const Look& look) const;
  void leave_out_third_turn(std::vector<int>& places) const;

  Value ask(const Request& request);
  Value perform(Value drawn, int place);
  Value perform_at_once(bool& changed);
  Value perform_apart(Value drawn);
  void remember(Value seen, bool changed);
  [[nodiscard]] bool is_atomic() const { return request_.kind >= StepKind::exchange && request_.kind <= StepKind::fence; }
  // The length in operations of a loop that the CPU is in: the latest operations are two equal iterations of it, and the
  // request begins a third. 0: no such loop.
  [[nodiscard]] std::size_t turn_of_loop() const;
  [[nodiscard]] bool words_have_changed() const;

  int number_;
  CheckedMemory* memory_;
  ViewMemory* views_;
  std::optional<Orders> next_order_;
  std::vector<CheckedCpu*>* all_;
  const EndingLoops* ending_;
  Tick* clock_;
  boost::context::fiber program_, search_;
  std::exception_ptr error_;
  Request request_;
  Value result_ = 0;
  bool ended_ = false;
  int steps_ = 0;
  Digest seen_;
  std::vector<Look> looks_;  // since the CPU last changed memory
  std::int64_t wakes_ = 0, slept_ = 0;
  FunctionId function_ = 0;
  ThreadCounters counters_;
  int draws_ = 0;
  int looks_in_a_row_ = 0;  // at a clock that stands
  int seconds_ = 0;
  bool fails_ = false;  // the latest operation, a weak compare-exchange, failed for no reason
  bool has_failed_weakly_ = false;
};

}  // namespace linebounce::sim
