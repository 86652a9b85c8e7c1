// A hardware thread as its program sees it: blocking memory operations, computation, spins, interrupts, sleep. A call returns
// when the operation completes in simulated time. Addresses are naturally aligned; a word has 1, 2, 4 or 8 bytes. Destructors
// and catch blocks must make no call, because fibers share the C++ runtime's exception state.
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

// Decides from the values of its words whether a spin ends. A reference to a function object, for use as a parameter.
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

class Cpu {
 public:
  using InterruptHandler = std::function<void(Cpu&, int vector)>;

  Cpu() = default;
  virtual ~Cpu() = default;
  Cpu(const Cpu&) = delete;
  Cpu& operator=(const Cpu&) = delete;

  [[nodiscard]] virtual CpuId id() const = 0;

  virtual Value load(Address address, int bytes = 8) = 0;
  // Issues two independent loads back to back. A stall-on-use core sends the second before the first returns. If both touch the
  // same missing line they share one fill, and both count as misses.
  struct Word {
    Address address = 0;
    int bytes = 8;
  };
  struct Pair {
    Value first = 0, second = 0;
  };
  virtual Pair load_pair(Word first, Word second) = 0;
  // Issues independent loads, one per cycle, and returns when the last one completes. Misses overlap as far as the core has
  // free MSHRs. The loads are unordered among each other. REQUIRES: as many values as words.
  virtual void load_all(std::span<const Word> words, std::span<Value> values) = 0;
  virtual void store(Address address, Value value, int bytes = 8) = 0;

  // Acquire: no later access happens before it. Release: no earlier access happens after it. Plain accesses under sc.
  Value load_acquire(Address address, int bytes = 8) { return load(address, bytes); }
  virtual void store_release(Address address, Value value, int bytes = 8) = 0;

  // Atomic operations, which also act as full fences. Return the word's old value.
  virtual Value exchange(Address address, Value value, int bytes = 8) = 0;
  virtual Value fetch_add(Address address, Value addend, int bytes = 8) = 0;
  virtual Value compare_exchange(Address address, Value expected, Value desired, int bytes = 8) = 0;

  // Waits until every earlier store is in the cache.
  virtual void fence() = 0;
  // Orders earlier stores before later ones. Free under models that do so anyway.
  virtual void store_fence() = 0;

  // Requests the line, readable or writable, without waiting for it.
  virtual void prefetch(Address address, Access access = kReadAccess) = 0;

  // Executes instructions without memory accesses at the core's issue width. An interrupt may split it.
  virtual void execute(std::int64_t instructions) = 0;
  // Spends cycles that count no instruction. An interrupt may split it.
  virtual void compute(std::int64_t cycles) = 0;

  // Loads the words one after the other until `done(values)`, and leaves the last values in `values`. Between two iterations
  // lie `kSpinPause` cycles, and the machine's pause instruction if the loop has one. A spin on unchanged words is parked,
  // which costs no simulation time.
  static constexpr int kSpinPause = 2;  // compare and branch
  // `pauses`: the loop has an instruction such as x86's `pause`, which leaves issue slots to sibling threads.
  enum class Loop : std::uint8_t { pauses, tight };
  virtual void spin(std::span<const Address> addresses, std::span<Value> values, SpinCondition done, int bytes, Loop loop) = 0;
  template <class Done>
  void spin_until_any(std::span<const Address> addresses, std::span<Value> values, Done done, int bytes = 8,
                      Loop loop = Loop::pauses) {
    spin(addresses, values, SpinCondition(done), bytes, loop);
  }
  // Spins on one word until `done(value)`, and returns that value.
  template <class Done>
  Value spin_until(Address address, Done done, int bytes = 8, Loop loop = Loop::pauses) {
    Value value = 0;
    const auto one = [&done](std::span<const Value> values) { return done(values[0]); };
    spin_until_any({&address, 1}, {&value, 1}, one, bytes, loop);
    return value;
  }
  template <class Done>
  Value spin_until_acquire(Address address, Done done, int bytes = 8) {
    return spin_until(address, done, bytes);
  }

  // The handler runs between two operations, or splits execute() or compute(). Other interrupts wait while it runs.
  virtual void set_interrupt_handler(InterruptHandler handler) = 0;
  virtual void disable_interrupts() = 0;
  virtual void enable_interrupts() = 0;
  // Interrupts this thread after `delay_ns`.
  virtual void set_timer(double delay_ns, int vector) = 0;
  // Interrupts another thread after the machine's IPI latency.
  void send_ipi(CpuId target, int vector) { interrupt_later(target, vector, 0); }
  // Interrupts any thread, this one included, as a device does that works for `delay_ns`; takes at least the IPI latency.
  virtual void interrupt_later(CpuId target, int vector, double delay_ns) = 0;

  // Invalidates this core's translations of `pages` pages from `first` on, or all its translations if that is as fast. Other
  // cores need an interrupt (workloads/program/shootdown.hpp).
  virtual void invalidate_pages(Address first, std::int64_t pages) = 0;

  // Returns after another thread has called wake() for this one; at once if it has done so since the last sleep().
  virtual void sleep() = 0;
  virtual void wake(CpuId target) = 0;

  // Reads the clock, in ticks or ns: an operation without duration, ordered with the others.
  virtual Tick now() = 0;
  double now_ns() { return to_ns(now()); }

  // When the latest operation ended. Not an operation: comparing it with other threads' times needs an order from memory.
  [[nodiscard]] virtual Tick local_time() const = 0;
  // The part of [from, to) that lies in the measured time.
  [[nodiscard]] virtual Tick measured(Tick from, Tick to) const = 0;
  // Whether `at` lies in the measured time.
  [[nodiscard]] virtual bool measures(Tick at) const = 0;
  [[nodiscard]] virtual double to_ns(Tick ticks) const = 0;

  // Attributes what follows to a function; returns the caller's. Use FunctionScope.
  virtual FunctionId enter_function(FunctionId function) = 0;
  virtual void leave_function(FunctionId caller) = 0;
  [[nodiscard]] virtual FunctionId function() const = 0;

  // Counts one of the workload's own events if it falls in the measured time. REQUIRES: 0 <= which < kTallies.
  static constexpr int kTallies = 8;
  virtual void tally(int which, std::int64_t count = 1) = 0;
  [[nodiscard]] virtual std::int64_t tallied(int which) const = 0;

  [[nodiscard]] virtual const ThreadCounters& counters() const = 0;

  // For replay, which knows no values: a write of this kind that adds `addend` to the word. The thread's store buffer forwards
  // bit 63, or 0 if `addend` is 0.
  virtual void write_adding(OperationKind kind, Address address, Value addend, int bytes, bool release = false) = 0;
  // Number of wakes so far. A sleep() consumes all wakes before it.
  [[nodiscard]] virtual std::int64_t wakes() const = 0;
  [[nodiscard]] virtual bool wake_pending() const = 0;

  // Hooks for the trace recorder and the timeline. Null when not attached.
  [[nodiscard]] virtual ProgramTap* tap() const = 0;
  [[nodiscard]] virtual Timeline* timeline() const = 0;
};

// Attributes operations to a function during its lifetime. The destructor performs no operation.
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
