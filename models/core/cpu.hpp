// A hardware thread as its program sees it: blocking memory operations, computation, spins, interrupts and sleep. A call
// returns when the operation completes in simulated time. Addresses are naturally aligned, and a word has 1, 2, 4 or 8 bytes.
// Destructors and catch blocks must not call these functions, because fibers share the C++ runtime's exception state.
#pragma once

#include <functional>
#include <span>

#include "models/access.hpp"
#include "models/core/cpu_operation.hpp"
#include "models/units.hpp"

namespace linebounce {

class ProgramTap;
struct ThreadCounters;
class Timeline;

// A predicate that decides, from the values of the words being spun on, whether the spin ends. Non-owning (like function_ref),
// so use it only as a parameter.
class SpinCondition {
 public:
  template <class Done>
  explicit SpinCondition(Done& done)
      : done_(&done),
        call_([](void* object, std::span<const Value> values) -> bool { return (*static_cast<Done*>(object))(values); }) {}
  bool operator()(std::span<const Value> values) const { return call_(done_, values); }

 private:
  void* done_;
  bool (*call_)(void*, std::span<const Value>);
};

// The memory order of one operation, as its program's source states it. Simulated cores execute loads in program order and
// treat atomic operations as full fences, so they ignore it; a checker of weaker models doesn't. `sequential_store`: for an
// exchange in place of a store. `full`: a fence, the operation, and another fence.
enum class MemoryOrder : std::uint8_t { relaxed, acquire, release, both, sequential, sequential_store, full };

class Cpu {
 public:
  using InterruptHandler = std::function<void(Cpu&, int vector)>;

  Cpu() = default;
  virtual ~Cpu() = default;
  Cpu(const Cpu&) = delete;
  Cpu& operator=(const Cpu&) = delete;

  [[nodiscard]] virtual CpuId id() const = 0;

  virtual Value load(Address address, int bytes = 8) = 0;
  struct Word {
    Address address = 0;
    int bytes = 8;
  };
  struct Pair {
    Value first = 0, second = 0;
  };
  // Issues two independent loads back to back. A stall-on-use core issues the second before the first returns. If both need the
  // same missing line they share one fill, and both count as misses.
  virtual Pair load_pair(Word first, Word second) = 0;
  // Issues independent loads, one per cycle, and returns when the last one completes. Misses overlap as far as the core has
  // free MSHRs. The loads are not ordered among each other. REQUIRES: `values` is as long as `words`.
  virtual void load_all(std::span<const Word> words, std::span<Value> values) = 0;
  virtual void store(Address address, Value value, int bytes = 8) = 0;

  // load_acquire: no later access takes effect before the load. store_release: no earlier access takes effect after the store.
  // Under the consistency model `sc` both are plain accesses.
  Value load_acquire(Address address, int bytes = 8) {
    order_next(MemoryOrder::acquire);
    return load(address, bytes);
  }
  virtual void store_release(Address address, Value value, int bytes = 8) = 0;

  // Atomic operations. They also act as full fences, and return the word's old value.
  virtual Value exchange(Address address, Value value, int bytes = 8) = 0;
  virtual Value fetch_add(Address address, Value addend, int bytes = 8) = 0;
  virtual Value compare_exchange(Address address, Value expected, Value desired, int bytes = 8) = 0;

  // The order of this thread's next load, atomic operation or spin, where it is another than the call's own: relaxed for load()
  // and spin(), full for atomic operations. For one that compares, `if_it_fails` is the order of its load if it fails.
  virtual void order_next(MemoryOrder /*order*/, MemoryOrder /*if_it_fails*/ = MemoryOrder::relaxed) {}

  // Waits until all earlier stores of this thread are in the cache.
  virtual void fence() = 0;
  // Orders this thread's earlier stores before its later ones. Takes no time under consistency models that always do so.
  virtual void store_fence() = 0;
  // Orders this thread's earlier loads before its later operations. Takes no time, since simulated cores keep that order.
  virtual void load_fence() {}

  // Requests the address's line for reading or writing, and does not wait for the line.
  virtual void prefetch(Address address, Access access = kReadAccess) = 0;

  // Executes this many instructions, without memory accesses, at the core's issue width. An interrupt may split the time.
  virtual void execute(std::int64_t instructions) = 0;
  // Spends `cycles` without counting instructions. An interrupt may split the time.
  virtual void compute(std::int64_t cycles) = 0;

  // Loads the words one after the other, again and again, until `done(values)` is true, and leaves the last loaded values in
  // `values`. Each iteration also takes `kSpinPause` cycles, plus the machine's pause if `loop` is Loop::pauses. While the
  // words don't change, the spin is parked: the simulator skips its loads and counts them later.
  static constexpr int kSpinPause = 2;  // cycles for the loop's compare and branch
  // `pauses`: the loop contains an instruction such as x86's `pause`, which leaves issue slots to sibling threads.
  enum class Loop : std::uint8_t { pauses, tight };
  virtual void spin(std::span<const Address> addresses, std::span<Value> values, SpinCondition done, int bytes, Loop loop) = 0;
  template <class Done>
  void spin_until_any(std::span<const Address> addresses, std::span<Value> values, Done done, int bytes = 8,
                      Loop loop = Loop::pauses) {
    spin(addresses, values, SpinCondition(done), bytes, loop);
  }
  // Spins on one word until `done(value)` is true, and returns that value.
  template <class Done>
  Value spin_until(Address address, Done done, int bytes = 8, Loop loop = Loop::pauses) {
    Value value = 0;
    const auto one = [&done](std::span<const Value> values) { return done(values[0]); };
    spin_until_any({&address, 1}, {&value, 1}, one, bytes, loop);
    return value;
  }
  template <class Done>
  Value spin_until_acquire(Address address, Done done, int bytes = 8) {
    order_next(MemoryOrder::acquire);
    return spin_until(address, done, bytes);
  }

  // The handler runs between two operations, or in the middle of execute() or compute(), and delays other interrupts.
  virtual void set_interrupt_handler(InterruptHandler handler) = 0;
  virtual void disable_interrupts() = 0;
  virtual void enable_interrupts() = 0;
  // Interrupts this thread after `delay_ns`.
  virtual void set_timer(double delay_ns, int vector) = 0;
  // Interrupts another thread after the machine's IPI latency.
  void send_ipi(CpuId target, int vector) { interrupt_later(target, vector, 0); }
  // Interrupts any thread, even this one, as a device does after `delay_ns` of work. Takes at least the IPI latency.
  virtual void interrupt_later(CpuId target, int vector, double delay_ns) = 0;

  // Invalidates this core's TLB entries for `pages` pages from `first` on, or its whole TLB if `pages` exceeds the machine's
  // tlb_flush_ceiling_pages. Other cores must be interrupted to do the same (workloads/program/shootdown.hpp).
  virtual void invalidate_pages(Address first, std::int64_t pages) = 0;

  // What an operating system adds to a program's waits, in this thread's cycles; 0 where no time is simulated.
  struct SystemCosts {
    std::int64_t call_cycles = 0;    // entering and leaving the kernel
    std::int64_t switch_cycles = 0;  // giving up the CPU, or getting one back
  };
  [[nodiscard]] virtual SystemCosts system_costs() const { return {}; }

  // Sleeps until another thread calls wake() for this one. Returns at once if such a call came after the end of the last
  // sleep().
  virtual void sleep() = 0;
  virtual void wake(CpuId target) = 0;

  // Reads the clock, in ticks or ns: a simulated operation that takes no time, but is ordered with other threads' operations.
  virtual Tick now() = 0;
  double now_ns() { return to_ns(now()); }

  // The time at which the latest operation ended. Reading this time is no simulated operation, so compare it with another
  // thread's only if memory accesses order the two.
  [[nodiscard]] virtual Tick local_time() const = 0;
  // Length of the part of [from, to) that lies in the measured time.
  [[nodiscard]] virtual Tick measured(Tick from, Tick to) const = 0;
  // True if `at` lies in the measured time.
  [[nodiscard]] virtual bool measures(Tick at) const = 0;
  [[nodiscard]] virtual double to_ns(Tick ticks) const = 0;

  // Attributes the operations that follow to `function`, and returns the caller's function. Call it through FunctionScope.
  virtual FunctionId enter_function(FunctionId function) = 0;
  virtual void leave_function(FunctionId caller) = 0;
  [[nodiscard]] virtual FunctionId function() const = 0;

  // Adds `count` to the workload's own counter `which`, if the local time is in the measured time. REQUIRES: which < kTallies.
  static constexpr int kTallies = 8;
  virtual void tally(int which, std::int64_t count = 1) = 0;
  [[nodiscard]] virtual std::int64_t tallied(int which) const = 0;

  [[nodiscard]] virtual const ThreadCounters& counters() const = 0;

  // For the replay of traces, which contain no values: adds `addend` to the word, at the cost of an operation of this kind.
  // While a store waits in the store buffer, the thread's own loads of the word return 0 if `addend` is 0, and 1 << 63 if it
  // is not.
  virtual void write_adding(OperationKind kind, Address address, Value addend, int bytes, bool release = false) = 0;
  // Number of wakes that the thread has received so far. One sleep() consumes all earlier wakes.
  [[nodiscard]] virtual std::int64_t wakes() const = 0;
  [[nodiscard]] virtual bool wake_pending() const = 0;

  // Hooks for the trace recorder and the timeline. Null when not attached.
  [[nodiscard]] virtual ProgramTap* tap() const = 0;
  [[nodiscard]] virtual Timeline* timeline() const = 0;
};

// Attributes operations to a function during the scope's lifetime. The destructor performs no simulated operation.
class FunctionScope {
 public:
  FunctionScope(Cpu& cpu, FunctionId function) : cpu_(cpu), caller_(cpu.enter_function(function)) {}
  ~FunctionScope() { cpu_.leave_function(caller_); }
  FunctionScope(const FunctionScope&) = delete;
  FunctionScope& operator=(const FunctionScope&) = delete;

 private:
  Cpu& cpu_;
  FunctionId caller_;
};

}  // namespace linebounce
