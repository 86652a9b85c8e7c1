// A hardware thread as a program sees it: blocking memory operations, computation, spins, interrupts, sleep. A call returns
// when the operation is done in simulated time. Addresses are naturally aligned; a word has 1, 2, 4 or 8 bytes. No call from a
// destructor or a catch block: threads share the C++ runtime's exception state.
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

// Whether a spin is over, by the values of its words. Refers to a function object, as a parameter.
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
  // Two loads, the second of which a core that stalls on use issues before the first has come. If they are of one line that the
  // first misses, the second waits for the same fill, and is a miss like it for who counts.
  struct Word {
    Address address = 0;
    int bytes = 8;
  };
  struct Pair {
    Value first = 0, second = 0;
  };
  virtual Pair load_pair(Word first, Word second) = 0;
  // Loads that do not depend on each other: one is issued in each cycle, and those that miss are under way together, as many as
  // the core's outstanding misses allow. Returns when the last has come. In no order among each other: for a program that needs
  // one, they are loads one after the other. REQUIRES: as many values as words.
  virtual void load_all(std::span<const Word> words, std::span<Value> values) = 0;
  virtual void store(Address address, Value value, int bytes = 8) = 0;

  // Nothing after it happens before it. / Nothing before it happens after it. Plain accesses under sc.
  Value load_acquire(Address address, int bytes = 8) { return load(address, bytes); }
  virtual void store_release(Address address, Value value, int bytes = 8) = 0;

  // Atomic, and a fence for this thread. They return what was there before.
  virtual Value exchange(Address address, Value value, int bytes = 8) = 0;
  virtual Value fetch_add(Address address, Value addend, int bytes = 8) = 0;
  virtual Value compare_exchange(Address address, Value expected, Value desired, int bytes = 8) = 0;

  // Returns when every earlier store is in the cache. / Earlier stores are seen before later ones: costs nothing where they are
  // anyway.
  virtual void fence() = 0;
  virtual void store_fence() = 0;

  // Asks for the line, readable or writable, and goes on.
  virtual void prefetch(Address address, Access access = kReadAccess) = 0;

  // Instructions that touch no memory, at the core's issue width. / Time that is no instruction. An interrupt can split both.
  virtual void execute(std::int64_t instructions) = 0;
  virtual void compute(std::int64_t cycles) = 0;

  // Loads the words one after the other, again and again, with `kSpinPause` cycles between and the machine's pause, unless the
  // loop is without one, until `done(values)`; the values are left in `values`. A thread that spins without hope of a change
  // costs nothing to simulate: it is parked until something touches the lines. / The same for one word, until `done(value)`;
  // returns that value.
  static constexpr int kSpinPause = 2;  // compare and branch
  // `pauses`: with an instruction such as x86's `pause` in it, which leaves a core's issue slots to its other threads.
  enum class Loop : std::uint8_t { pauses, tight };
  virtual void spin(std::span<const Address> addresses, std::span<Value> values, SpinCondition done, int bytes, Loop loop) = 0;
  template <class Done>
  void spin_until_any(std::span<const Address> addresses, std::span<Value> values, Done done, int bytes = 8,
                      Loop loop = Loop::pauses) {
    spin(addresses, values, SpinCondition(done), bytes, loop);
  }
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

  // Interrupts come between operations and split execute() and compute(). While the handler runs, others wait.
  virtual void set_interrupt_handler(InterruptHandler handler) = 0;
  virtual void disable_interrupts() = 0;
  virtual void enable_interrupts() = 0;
  // An interrupt to this thread after `delay_ns`. / To another, after the machine's latency.
  virtual void set_timer(double delay_ns, int vector) = 0;
  void send_ipi(CpuId target, int vector) { interrupt_later(target, vector, 0); }
  // To any thread, this one too, from a device that works `delay_ns` for this one; not before an IPI would be there.
  virtual void interrupt_later(CpuId target, int vector, double delay_ns) = 0;

  // Drops the translations of so many pages from `first` on; of all where that is as quick. Only this core's own: others hear
  // of it by an interrupt (workloads/program/shootdown.hpp).
  virtual void invalidate_pages(Address first, std::int64_t pages) = 0;

  // Returns after somebody called wake() for this thread; at once if that has happened since the last sleep().
  virtual void sleep() = 0;
  virtual void wake(CpuId target) = 0;

  // Simulated time, in ticks and ns. An operation of its own in the order of things, of no duration.
  virtual Tick now() = 0;
  double now_ns() { return to_ns(now()); }

  // When the latest operation ended. Costs nothing and waits for nobody: what it is compared with must be ordered by simulated
  // memory. / What of [from, to) lies in the measured time; whether `at` does. / Ticks as ns.
  [[nodiscard]] virtual Tick local_time() const = 0;
  [[nodiscard]] virtual Tick measured(Tick from, Tick to) const = 0;
  [[nodiscard]] virtual bool measures(Tick at) const = 0;
  [[nodiscard]] virtual double to_ns(Tick ticks) const = 0;

  // Which function's code runs, for attribution. Use FunctionScope.
  virtual FunctionId enter_function(FunctionId function) = 0;
  virtual void leave_function(FunctionId caller) = 0;
  [[nodiscard]] virtual FunctionId function() const = 0;

  // One more of the workload's own events, counted if it falls in the measured time. REQUIRES: 0 <= which < kTallies.
  static constexpr int kTallies = 8;
  virtual void tally(int which, std::int64_t count = 1) = 0;
  [[nodiscard]] virtual std::int64_t tallied(int which) const = 0;

  [[nodiscard]] virtual const ThreadCounters& counters() const = 0;

  // For programs that know no values (traces): a write of this kind that adds to what is there. A load that the own store
  // buffer serves sees only the highest bit of 8 bytes, and 0 if nothing is added.
  virtual void write_adding(OperationKind kind, Address address, Value addend, int bytes, bool release = false) = 0;
  // How often this thread has been woken: each sleep() has used up all that came before it.
  [[nodiscard]] virtual std::int64_t wakes() const = 0;
  [[nodiscard]] virtual bool wake_pending() const = 0;

  // For what programs report about themselves, to who records them and to who draws them; null: nobody wants to hear it.
  [[nodiscard]] virtual ProgramTap* tap() const = 0;
  [[nodiscard]] virtual Timeline* timeline() const = 0;
};

// Attributes what runs in its lifetime to a function. Its destructor calls no operation.
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
