// A hardware thread as a program sees it: blocking memory operations, computation, spins, interrupts, sleep. A call returns
// when the operation is done in simulated time. A hit runs ahead of the kernel and costs no event (see Core). Addresses are
// naturally aligned; a word has 1, 2, 4 or 8 bytes. No call from a destructor or a catch block: threads share the C++ runtime's
// exception state.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "models/core/cache_unit.hpp"
#include "models/core/cpu_counters.hpp"
#include "models/core/program_tap.hpp"
#include "models/core/store_buffer.hpp"

namespace linebounce {

class Core;
class Timeline;

class Cpu {
 public:
  using InterruptHandler = std::function<void(Cpu&, int vector)>;

  Cpu(Core& core, CacheUnit& unit, const CoreSpec& spec, CpuId id, int index_in_core);
  Cpu(const Cpu&) = delete;
  Cpu& operator=(const Cpu&) = delete;

  [[nodiscard]] CpuId id() const { return id_; }
  [[nodiscard]] int index_in_core() const { return index_; }

  Value load(Address address, int bytes = 8);
  // Two loads, the second of which a core that stalls on use issues before the first has come. If they are of one line that the
  // first misses, the second waits for the same fill, and is a miss like it for who counts.
  struct Word {
    Address address = 0;
    int bytes = 8;
  };
  struct Pair {
    Value first = 0, second = 0;
  };
  Pair load_pair(Word first, Word second);
  void store(Address address, Value value, int bytes = 8);

  // Nothing after it happens before it. / Nothing before it happens after it. Plain accesses under sc.
  Value load_acquire(Address address, int bytes = 8) { return load(address, bytes); }
  void store_release(Address address, Value value, int bytes = 8);

  // Atomic, and a fence for this thread. They return what was there before.
  Value exchange(Address address, Value value, int bytes = 8);
  Value fetch_add(Address address, Value addend, int bytes = 8);
  Value compare_exchange(Address address, Value expected, Value desired, int bytes = 8);

  // Returns when every earlier store is in the cache. / Earlier stores are seen before later ones: costs nothing where they are
  // anyway.
  void fence();
  void store_fence() {
    if (spec_->consistency == Consistency::ia64) fence();
  }

  // Asks for the line, readable or writable, and goes on.
  void prefetch(Address address, Access access = kReadAccess);

  // Instructions that touch no memory, at the core's issue width. / Time that is no instruction. An interrupt can split both.
  void execute(std::int64_t instructions);
  void compute(std::int64_t cycles);

  // Loads the word again and again, with `kSpinPause` cycles between, until `done(value)`; returns that value.
  // A thread that spins without hope of a change costs nothing: it is parked until something touches the line.
  template <class Done>
  Value spin_until(Address address, Done done, int bytes = 8);
  template <class Done>
  Value spin_until_acquire(Address address, Done done, int bytes = 8) {
    return spin_until(address, done, bytes);
  }
  // The same for several words, loaded one after the other; `done` sees all values. They are left in `values`.
  template <class Done>
  void spin_until_any(std::span<const Address> addresses, std::span<Value> values, Done done, int bytes = 8);
  static constexpr int kSpinPause = 2;  // compare and branch

  // Interrupts come between operations and split execute() and compute(). While the handler runs, others wait.
  void set_interrupt_handler(InterruptHandler handler) { handler_ = std::move(handler); }
  void disable_interrupts();
  void enable_interrupts();
  // An interrupt to this thread after `delay_ns`. / To another, after the machine's latency.
  void set_timer(double delay_ns, int vector);
  void send_ipi(CpuId target, int vector);
  // To any thread, this one too, from a device that works `delay_ns` for this one; not before an IPI would be there.
  void interrupt_later(CpuId target, int vector, double delay_ns);

  // Returns after somebody called wake() for this thread; at once if that has happened since the last sleep().
  void sleep();
  void wake(CpuId target);

  // Simulated time, in ticks and ns. An operation of its own in the order of things, of no duration.
  Tick now();
  double now_ns();

  // When the latest operation ended. Costs nothing and waits for nobody: what it is compared with must be ordered by simulated
  // memory. / What of [from, to) lies in the measured time; whether `at` does. / Ticks as ns.
  [[nodiscard]] Tick local_time() const { return now_; }
  [[nodiscard]] Tick measured(Tick from, Tick to) const;
  [[nodiscard]] bool measures(Tick at) const { return at >= spec_->warmup_end && at < spec_->end; }
  [[nodiscard]] double to_ns(Tick ticks) const { return spec_->timebase->to_ns(ticks); }

  // Which function's code runs, for attribution. Use FunctionScope.
  FunctionId enter_function(FunctionId function);
  void leave_function(FunctionId caller);
  [[nodiscard]] FunctionId function() const { return function_; }
  // What it looks at in a spin until another CPU writes there; empty: it does no such thing.
  [[nodiscard]] std::span<const Address> awaited_words() const {
    return status_ == Status::parked ? words_ : std::span<const Address>();
  }

  // One more of the workload's own events, counted if it falls in the measured time. REQUIRES: 0 <= which < kTallies.
  static constexpr int kTallies = 8;
  void tally(int which, std::int64_t count = 1);
  [[nodiscard]] std::int64_t tallied(int which) const { return tallies_[static_cast<std::size_t>(which)]; }

  [[nodiscard]] const ThreadCounters& counters() const { return counters_; }

  // The listener to every call; null: none. REQUIRES: no call is under way.
  void set_tap(ProgramTap* tap);
  [[nodiscard]] ProgramTap* tap() const { return tap_; }

  // For programs that know no values (traces): a write of this kind that adds to what is there. A load that the own store
  // buffer serves sees only the highest bit of 8 bytes, and 0 if nothing is added.
  void write_adding(OperationKind kind, Address address, Value addend, int bytes, bool release = false);
  // How often this thread has been woken: each sleep() has used up all that came before it.
  [[nodiscard]] std::int64_t wakes() const { return wakes_; }
  [[nodiscard]] bool wake_pending() const { return wake_pending_; }

  // For what programs report about themselves; null: nobody listens.
  [[nodiscard]] Timeline* timeline() const;

 private:
  friend class Core;
  // A load that has missed.
  struct OwnMiss {
    Address address = 0;
    Source source{};
    Tick issued = 0, at = 0;
  };
  enum class Status : std::uint8_t {
    ready,    // may run at now_
    blocked,  // its operation completes with a fill
    waiting,  // its operation is tried again when something changes
    parked,   // spins on lines that nobody has changed
    asleep,
    ended
  };
  struct Interrupt {
    Tick at = 0;
    int sender = 0;  // breaks ties
    int vector = 0;  // kWake: no handler, ends sleep()
  };
  static constexpr int kWake = -1;

  Value perform(Operation operation, bool release = false);
  void count(const Operation& operation, const CacheUnit::Attempt& attempt);
  Value finish_hit(Copy& copy, const Operation& operation, Tick latency);
  bool buffer_store(const Operation& operation, bool release);
  bool load_from_buffer(const Operation& operation, Value& value);
  void wait_until_drained();
  void wait_turn();
  void suspend(Status status);
  // When the operation that comes next was first wanted.
  [[nodiscard]] Tick wanted_since() const { return put_off_since_ < now_ ? put_off_since_ : now_; }
  void try_again(Tick at);
  void idle_for(Tick ticks);
  FunctionId change_function(FunctionId function);
  void post_interrupt(CpuId target, int vector, double delay_ns);
  void forget_limits() { limit_ = fast_limit_ = 0; }

  // Spins. words_ are the words of the spin loop that runs; next_word_ the one that it loads next.
  void begin_spin(std::span<const Address> addresses, int bytes);
  void end_spin();
  void pause_spin();
  void park(std::span<const Value> values, int bytes);
  [[nodiscard]] Tick spin_period() const;
  [[nodiscard]] Tick spin_time(std::int64_t load) const;
  [[nodiscard]] std::int64_t spin_load_from(Tick at) const;
  void count_spins_until(Tick limit);
  void resume_spin(Tick at);
  void unwatch_words();
  [[nodiscard]] bool watches(LineAddr line) const;
  [[nodiscard]] bool spins_on_nearest() const;

  // Interrupts
  void add_interrupt(Interrupt interrupt);
  [[nodiscard]] Tick next_interrupt() const;
  void accept_interrupt();
  void run_handler();

  void account_time();
  void account_sleep();
  void begin_measuring();
  [[nodiscard]] std::int64_t progress() const;
  [[nodiscard]] bool computes_at(Tick time) const;

  Core* core_;
  CacheUnit* unit_;
  CacheAgent* agent_;
  const CoreSpec* spec_;
  CpuId id_;
  int index_;

  // The path of a hit.
  Tick now_ = 0;         // local time: at or after the kernel's
  Tick fast_limit_ = 0;  // limit_, or 0 while the store buffer is not empty
  Tick nearest_latency_;
  Tick cycle_;
  std::int64_t slots_ = 0;  // instructions issued in the current cycle
  FunctionCounters* function_counters_;

  Tick limit_ = 0;  // operations before this time may run now
  Status status_ = Status::ready;
  Value result_ = 0;
  std::optional<OwnMiss> missed_;  // the latest, since it was last emptied
  StoreBuffer store_buffer_;
  Tick put_off_since_ = kNever;  // the first attempt of the operation that is to be tried again; kNever: it is a new one
  Source waited_source_ = Source::local_memory;  // of the change for which `waiting` ended

  Tick idle_from_ = -1;  // the latest execute() and compute() without an operation between them: [idle_from_, idle_to_)
  Tick idle_to_ = -1;

  std::span<const Address> words_;
  std::size_t next_word_ = 0;
  Tick parked_at_ = 0;              // when the next load of words_[0] would be
  std::int64_t loads_counted_ = 0;  // of the parked spin, from parked_at_ on

  std::deque<Interrupt> interrupts_;  // by time and sender
  InterruptHandler handler_;
  bool interrupts_enabled_ = true;
  bool deliver_ = false;  // an interrupt was accepted: now_ is its time
  int delivered_vector_ = 0;
  Tick interrupted_rest_ = 0;
  bool wake_pending_ = false;
  std::int64_t wakes_ = 0;

  // For the watchdog: instructions that a spin executed, or that were counted before the measured time; calls of compute().
  std::int64_t spin_loads_ = 0;
  std::int64_t counted_before_measuring_ = 0;
  std::int64_t computed_ = 0;

  FunctionId function_ = 0;
  Tick function_since_ = 0;
  ThreadCounters counters_;
  std::array<std::int64_t, kTallies> tallies_{};
  ProgramTap* tap_ = nullptr;
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

inline Value Cpu::finish_hit(Copy& copy, const Operation& operation, Tick latency) {
  const Value value = unit_->apply(operation, copy, now_);
  ++function_counters_->hits[0][static_cast<std::size_t>(operation.access_kind())];
  ++function_counters_->instructions;
  now_ += latency;
  slots_ = 0;
  return value;
}

inline Value Cpu::load(Address address, int bytes) {
  const Operation operation{.kind = OperationKind::load, .bytes = static_cast<std::uint8_t>(bytes), .address = address};
  if (now_ < fast_limit_) [[likely]] {
    if (Copy* copy = agent_->hit(address, kReadAccess, now_)) [[likely]]
      return finish_hit(*copy, operation, nearest_latency_);
  }
  return perform(operation);
}

inline void Cpu::store(Address address, Value value, int bytes) {
  const Operation operation{
      .kind = OperationKind::store, .bytes = static_cast<std::uint8_t>(bytes), .address = address, .operand = value};
  if (now_ < fast_limit_) [[likely]] {
    if (Copy* copy = agent_->hit(address, kWriteAccess, now_)) [[likely]] {
      finish_hit(*copy, operation, cycle_);
      return;
    }
  }
  perform(operation);
}

template <class Done>
Value Cpu::spin_until(Address address, Done done, int bytes) {
  Value value = 0;
  spin_until_any(
      {&address, 1}, {&value, 1}, [&done](std::span<const Value> values) { return done(values[0]); }, bytes);
  return value;
}

template <class Done>
void Cpu::spin_until_any(std::span<const Address> addresses, std::span<Value> values, Done done, int bytes) {
  begin_spin(addresses, bytes);
  for (;;) {
    while (next_word_ < words_.size()) {
      const std::size_t word = next_word_++;
      values[word] = load(words_[word], bytes);
    }
    if (done(std::span<const Value>(values))) break;
    pause_spin();
    park(values, bytes);
  }
  end_spin();
}

}  // namespace linebounce
