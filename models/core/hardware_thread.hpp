// A hardware thread: runs its program's operations on the core's caches and keeps its local time. A hit before the limit that
// the core has set needs no simulation event. The program sees the thread as a Cpu. The core and its cache unit call the public
// functions below those of Cpu. The thread knows its core only as a ThreadOwner.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "models/core/cache_unit.hpp"
#include "models/core/cpu.hpp"
#include "models/core/cpu_counters.hpp"
#include "models/core/program_tap.hpp"
#include "models/core/spin.hpp"
#include "models/core/store_buffer.hpp"
#include "models/core/thread_interrupts.hpp"

namespace linebounce {

class Footprint;

// A core as its hardware threads see it.
class ThreadOwner {
 public:
  static constexpr int kNoThread = -1;

  virtual ~ThreadOwner() = default;
  // Suspends the program until its thread is ready and the core lets the thread run.
  virtual void wait_turn() = 0;
  // Schedules the core's next turn on the event scheduler for `at` or earlier.
  virtual void wake_at(Tick at) = 0;
  // Returns any thread of the machine.
  virtual HardwareThread& thread(CpuId id) = 0;
  // A thread with siblings calls these before and after each access to the shared caches. `actor`: the thread's index in the
  // core, or kNoThread if the access goes before accesses that siblings make at the same time.
  virtual void before_access(Tick at, int actor) = 0;
  virtual void after_access(Tick at) = 0;
  // Issue share, in percent, that the siblings leave to `thread` at its local time.
  [[nodiscard]] virtual int issue_pct_beside_siblings(const HardwareThread& thread) const = 0;
  // spin_parked: the calling thread has parked its spin. spin_resumed: it no longer watches its words, and continues at `at`.
  virtual void spin_parked() = 0;
  virtual void spin_resumed(Tick at) = 0;
  // Watches the lines of all parked spins again. Called when a thread has stopped watching lines, which other spins may also
  // watch.
  virtual void rewatch() = 0;
};

class HardwareThread final : public Cpu {
 public:
  struct Wiring {
    ThreadOwner* owner;
    CacheUnit* unit;
    Footprint* footprint;  // null if the machine models neither TLB nor instruction cache
    const CoreSpec* spec;
    Observer* observer;
    bool alone;  // true if the core has no other thread
  };
  HardwareThread(const Wiring& wiring, CpuId id, int index_in_core);

  // The functions of Cpu, called by the thread's program.
  [[nodiscard]] CpuId id() const override { return id_; }
  Value load(Address address, int bytes) override;
  Pair load_pair(Word first, Word second) override;
  void load_all(std::span<const Word> words, std::span<Value> values) override;
  void store(Address address, Value value, int bytes) override;
  void store_release(Address address, Value value, int bytes) override;
  Value exchange(Address address, Value value, int bytes) override;
  Value fetch_add(Address address, Value addend, int bytes) override;
  Value compare_exchange(Address address, Value expected, Value desired, int bytes) override;
  void write_adding(OperationKind kind, Address address, Value addend, int bytes, bool release) override;
  void fence() override;
  void store_fence() override;
  void prefetch(Address address, Access access) override;
  void execute(std::int64_t instructions) override;
  void compute(std::int64_t cycles) override;
  void spin(std::span<const Address> addresses, std::span<Value> values, SpinCondition done, int bytes, Loop loop) override;
  void invalidate_pages(Address first, std::int64_t pages) override;

  void set_interrupt_handler(InterruptHandler handler) override { handler_ = std::move(handler); }
  void disable_interrupts() override;
  void enable_interrupts() override;
  void set_timer(double delay_ns, int vector) override;
  void interrupt_later(CpuId target, int vector, double delay_ns) override;
  [[nodiscard]] SystemCosts system_costs() const override { return spec_->system_costs; }
  void sleep() override;
  void wake(CpuId target) override;
  [[nodiscard]] std::int64_t wakes() const override { return interrupts_.wakes(); }
  [[nodiscard]] bool wake_pending() const override { return interrupts_.wake_pending(); }

  Tick now() override;
  [[nodiscard]] Tick local_time() const override { return now_; }
  [[nodiscard]] Tick measured(Tick from, Tick to) const override {
    return std::max<Tick>(0, std::min(to, spec_->end) - std::max(from, spec_->warmup_end));
  }
  [[nodiscard]] bool measures(Tick at) const override { return at >= spec_->warmup_end && at < spec_->end; }
  [[nodiscard]] double to_ns(Tick ticks) const override { return spec_->timebase->to_ns(ticks); }

  FunctionId enter_function(FunctionId function) override;
  void leave_function(FunctionId caller) override;
  [[nodiscard]] FunctionId function() const override { return function_; }
  void tally(int which, std::int64_t count) override;
  [[nodiscard]] std::int64_t tallied(int which) const override { return tallies_[which]; }
  [[nodiscard]] const ThreadCounters& counters() const override { return counters_; }
  [[nodiscard]] ProgramTap* tap() const override { return unit_->tap(); }
  [[nodiscard]] Timeline* timeline() const override { return timeline_; }

  // Called by the core to decide when the thread may run, and until when.
  [[nodiscard]] int index_in_core() const { return index_; }
  [[nodiscard]] bool ready() const { return status_ == Status::ready; }
  [[nodiscard]] bool ended() const { return status_ == Status::ended; }
  // When the thread's next operation was first issued; earlier than local_time() after a retry.
  [[nodiscard]] Tick first_issued_at() const { return deferred_since_ < now_ ? deferred_since_ : now_; }
  // Lets the thread run operations that start before `limit`.
  void run_until(Tick limit) {
    limit_ = limit;
    fast_limit_ = fast_path_open() ? limit : 0;
  }
  // Makes the thread ask its core for a new limit before its next operation.
  void reset_limits() { limit_ = fast_limit_ = 0; }
  // Issue share left to a sibling that starts computing at `at`, in percent.
  [[nodiscard]] int sibling_issue_pct(Tick at) const;

  // Called by the core for interrupts and store-buffer drains. next_interrupt() and next_drain() return kNever if there is
  // none.
  [[nodiscard]] Tick next_interrupt() const {
    return interrupts_.empty() || !accepts_interrupts() ? kNever : interrupts_.next();
  }
  void accept_interrupt();
  [[nodiscard]] Tick next_drain() const { return store_buffer_.next_drain(); }
  void drain_store(Tick at);
  [[nodiscard]] int stores_draining_to(Address line, int line_bytes) const {
    return store_buffer_.draining_to(line, line_bytes);
  }

  // Called by the core for parked spins.
  [[nodiscard]] bool parked() const { return status_ == Status::parked; }
  [[nodiscard]] const Spin& parked_spin() const { return spin_; }
  // Counts the parked spin's loads that are due before `limit`.
  void count_spins_until(Tick limit);
  // Unparks the spin: the thread continues with the spin's first load at or after `at`.
  void resume_spin(Tick at);
  void rewatch_words() { spin_.set_watched(true); }

  // Called by the core for the run as a whole.
  void set_functions(std::size_t count);
  void set_timeline(Timeline& timeline) { timeline_ = &timeline; }
  void end_program();
  // Called at the start and at the end of the measured time.
  void begin_measuring(Tick at);
  void finish_measuring(Tick end);
  // A count that grows with every operation outside a spin and with every computation.
  [[nodiscard]] std::int64_t progress() const;
  // True if a computation of this thread ends after `now`, or an interrupt arrives. Neither depends on other CPUs.
  [[nodiscard]] bool waits_for_time(Tick now) const { return computes_at(now) || interrupts_.any_after(now); }
  [[nodiscard]] std::string describe() const;
  // The words that the thread's parked spin loads; empty if the thread is not parked.
  [[nodiscard]] std::span<const Address> awaited_words() const { return parked() ? spin_.words() : std::span<const Address>(); }

  // Called by the core's cache unit to report what happened to an operation.
  // completed(): the operation that blocks the thread ran at `at` with this result, and occupies the thread until `ends`.
  void completed(const Operation& operation, Source source, Value result, Tick at, Tick ends);
  // drained(): a store-buffer entry has drained. loaded(): a load of load_all() has completed.
  void drained(int entry_id, Tick at);
  void loaded(OverlappedLoads& loads, std::size_t word, Source source, Value value, Tick at, Tick ends);
  // Retries the thread's deferred operations; called by CacheUnitOwner::retry().
  void retry(Tick at, Source source);
  void report_miss(const Operation& operation, Source source, Tick at, const Waits& waits);

  // Called by the thread that sends this one an interrupt or a wake.
  void receive(const Interrupt& interrupt);

 private:
  struct LoadMiss {
    Address address = 0;
    Source source{};
    Tick issued = 0, at = 0;
    Waits waits;
  };
  enum class Status : std::uint8_t {
    ready,    // may run its next operation at now_
    blocked,  // waits for the fill that completes its operation
    waiting,  // waits for a fill, drain or write-back, then retries its operation
    parked,   // spins on unchanged lines; the loads are not simulated
    asleep,
    ended
  };

  // Fast path: a hit that cannot block and that no listener observes.
  Value run_load(Copy& copy, Address address, int bytes, Tick latency, int level = 0);
  void run_store(Copy& copy, Address address, Value value, int bytes, Tick at, int level = 0);
  void count_hit(AccessKind kind, Tick latency, int level);
  [[nodiscard]] bool fast_path_open() const { return store_buffer_.empty() && tap() == nullptr && footprint_ == nullptr; }
  bool wait_for_fast_path();
  // Slow path, kept out of line so that the fast path stays small.
  Value load_slow(Address address, int bytes);
  void store_slow(Address address, Value value, int bytes);

  Value perform(Operation operation, bool release = false);
  CacheUnit::Attempt attempt(Operation& operation, Tick at, int actor, const CacheUnit::Requester& requester);
  void count(const Operation& operation, const CacheUnit::Attempt& attempt);
  void charge_hit(const Operation& operation, const CacheUnit::Attempt& hit);
  bool buffer_store(const Operation& operation, bool release);
  bool load_from_buffer(const Operation& operation, Value& value);
  bool issue_load(Operation& operation, std::size_t word, OverlappedLoads& loads);
  void prefetch_ownership(const Operation& operation);
  void wait_until_drained();
  void before_access(Tick at, int actor) {
    if (!alone_) owner_->before_access(at, actor);
  }
  void after_access(Tick at) {
    if (!alone_) owner_->after_access(at);
  }
  // The `actor` of the thread's next access. kNoThread for a retried operation, which goes before those that siblings issue
  // at the same time.
  [[nodiscard]] int actor() const { return deferred_since_ < now_ ? ThreadOwner::kNoThread : index_; }

  void wait_turn();
  void suspend(Status status);
  // Suspends the thread until the next fill, drain or write-back, and charges the time to `part`. kForFill charges it to the
  // source of the fill that ends the wait.
  static constexpr TimePart kForFill = TimePart::issue;
  void wait_for_change(TimePart part);
  // If the thread is waiting, makes it ready at `at`. `source`: the supplier of the fill for which it may have waited.
  void stop_waiting(Tick at, Source source) {
    if (status_ == Status::waiting) make_ready(at, source);
  }
  void make_ready(Tick at, Source source);

  // Refuses amounts so large that they, or their number of ticks, could overflow. Errors: ModelFailure.
  void require_countable(const char* what, std::int64_t amount) const {
    if (static_cast<std::uint64_t>(amount) > most_cycles_) refuse_uncountable(what, amount);
  }
  [[gnu::cold]] void compute_past_end(std::int64_t cycles);
  [[noreturn]] [[gnu::cold]] void refuse_uncountable(const char* what, std::int64_t amount) const;
  // Computes for `cycles`, after fetching the code of `instructions` instructions.
  void run_computation(std::int64_t cycles, std::int64_t instructions);
  // Advances the local time by `ticks`. An interrupt may split the interval.
  void advance_interruptibly(Tick ticks);
  [[nodiscard]] bool computes_at(Tick time) const;
  // True if the thread runs instructions at `at`. A program may end in a computation that lasts beyond `at`.
  [[nodiscard]] bool takes_issue_slots(Tick at) const {
    return !spin_.active() && (status_ == Status::ready || (status_ == Status::ended && now_ > at));
  }
  // fetch_code() returns the stall time for fetching the current function's next instructions. fetch_and_translate() stalls the
  // thread for fetching one instruction and for translating the address.
  Tick fetch_code(std::int64_t instructions);
  void fetch_and_translate(Address address);

  Value load_in_spin(Address address, int bytes);
  void pause_spin();
  void park(std::span<const Value> values, int bytes);

  void send_interrupt(CpuId target, int vector, double delay_ns);
  [[nodiscard]] bool accepts_interrupts() const {
    return status_ != Status::blocked && status_ != Status::waiting && status_ != Status::ended;
  }
  void run_handler();

  FunctionId change_function(FunctionId function);
  void account_time();
  void account_sleep();
  // Charges a wait to a part of the CPI stack. charge_spin_until() charges a spin as a whole.
  void charge(TimePart part, Tick from, Tick to) {
    if (spinning_since_ == kNever) (*waits_)[ordinal(part)] += HardwareThread::measured(from, to);
  }
  void charge_spin_from(Tick since);
  void charge_spin_until(Tick until);
  void charge_open_wait(Tick end);

  // Members that each turn uses come first and lie together, on few cache lines of the host; those of the fast path lead.
  ThreadOwner* owner_;
  CacheUnit* unit_;
  CacheAgent* agent_;
  Footprint* footprint_;
  const CoreSpec* spec_;
  Observer* observer_;
  Timeline* timeline_ = nullptr;
  CpuId id_;
  int index_;

  Tick now_ = 0;         // local time; may be ahead of the machine's time
  Tick fast_limit_ = 0;  // limit_ if the fast path is open, else 0
  Tick nearest_latency_;
  Tick cycle_;
  std::int64_t slots_ = 0;  // instructions issued in the current cycle
  FunctionCounters* function_counters_;
  bool alone_;
  Status status_ = Status::ready;
  FunctionId function_ = 0;
  bool pairs_loads_ = false;                    // while load_pair() runs
  Source retry_source_ = Source::local_memory;  // the `source` of the latest call of retry()
  Source last_source_ = Source::local_memory;   // source of the thread's latest miss
  TimePart waits_for_ = kForFill;               // what the thread waits for, while it is waiting

  Tick limit_ = 0;                // operations before this time may run now
  Value result_ = 0;              // result of the operation that blocked the thread
  Tick deferred_since_ = kNever;  // when the operation to retry was first issued; kNever if the next operation is new
  Tick spinning_since_ = kNever;  // kNever if the thread does not spin
  TimeParts* waits_ = nullptr;    // of the current function
  StoreBuffer store_buffer_;
  ThreadInterrupts interrupts_;
  ThreadCounters counters_;

  // [computing_from_, computing_until_) is the time of the latest unbroken sequence of execute(), compute() and spin pauses.
  Tick computing_from_ = -1;
  Tick computing_until_ = -1;
  static constexpr Tick kLastCountable = kNever / 2;
  Tick computing_end_;         // the run's end, or the last tick that can be counted
  std::uint64_t most_cycles_;  // of one computation
  static constexpr int kMaxComputationsPastEnd = 10'000;
  int computations_past_end_ = 0;

  Spin spin_;
  InterruptHandler handler_;
  Tick function_since_ = 0;
  std::array<std::int64_t, kMostLevels> hits_before_spin_{};
  std::optional<LoadMiss> last_load_miss_;  // latest load miss within load_pair(), which resets it before each of its two loads

  // Counts from which progress() computes its result.
  std::int64_t spin_instructions_ = 0;
  std::int64_t warmup_instructions_ = 0;
  std::int64_t computations_ = 0;

  std::array<std::int64_t, kTallies> tallies_{};
};

}  // namespace linebounce
