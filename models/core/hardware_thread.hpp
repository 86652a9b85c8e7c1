// A hardware thread of a core: runs what its program asks of a Cpu. A hit runs ahead of the machine and costs no event; what
// else there is to do, and who may go on when, the Core decides, which works on the thread's state directly.
#pragma once

#include <array>
#include <optional>

#include "models/core/cache_unit.hpp"
#include "models/core/cpu.hpp"
#include "models/core/cpu_counters.hpp"
#include "models/core/program_tap.hpp"
#include "models/core/spin.hpp"
#include "models/core/store_buffer.hpp"
#include "models/core/thread_interrupts.hpp"

namespace linebounce {

class Core;
class Footprint;

class HardwareThread final : public Cpu {
 public:
  // `footprint`: of its core; null: there is none.
  HardwareThread(Core& core, CacheUnit& unit, Footprint* footprint, const CoreSpec& spec, CpuId id, int index_in_core);

  [[nodiscard]] CpuId id() const override { return id_; }
  [[nodiscard]] int index_in_core() const { return index_; }

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
  void sleep() override;
  void wake(CpuId target) override;
  [[nodiscard]] std::int64_t wakes() const override { return interrupts_.wakes(); }
  [[nodiscard]] bool wake_pending() const override { return interrupts_.wake_pending(); }

  Tick now() override;
  [[nodiscard]] Tick local_time() const override { return now_; }
  [[nodiscard]] Tick measured(Tick from, Tick to) const override;
  [[nodiscard]] bool measures(Tick at) const override { return at >= spec_->warmup_end && at < spec_->end; }
  [[nodiscard]] double to_ns(Tick ticks) const override { return spec_->timebase->to_ns(ticks); }

  FunctionId enter_function(FunctionId function) override;
  void leave_function(FunctionId caller) override;
  [[nodiscard]] FunctionId function() const override { return function_; }
  void tally(int which, std::int64_t count) override;
  [[nodiscard]] std::int64_t tallied(int which) const override { return tallies_[static_cast<std::size_t>(which)]; }
  [[nodiscard]] const ThreadCounters& counters() const override { return counters_; }
  [[nodiscard]] ProgramTap* tap() const override { return unit_->tap(); }
  [[nodiscard]] Timeline* timeline() const override;

  // What it looks at in a spin until another CPU writes there; empty: it does no such thing.
  [[nodiscard]] std::span<const Address> awaited_words() const {
    return status_ == Status::parked ? spin_.words() : std::span<const Address>();
  }

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

  void count_hit(AccessKind kind, Tick latency, int level = 0);
  // The short path of a hit: no operation that may have to wait, and nobody who wants to know of it.
  Value run_load(Copy& copy, Address address, int bytes, Tick latency, int level = 0);
  void run_store(Copy& copy, Address address, Value value, int bytes, Tick at, int level = 0);
  // What is no hit where the nearest level had the line last. Apart, so that such a hit costs little.
  Value load_slow(Address address, int bytes);
  void store_slow(Address address, Value value, int bytes);
  bool prepare_fast_path();
  Value perform(Operation operation, bool release = false);
  void count(const Operation& operation, const CacheUnit::Attempt& attempt);
  bool buffer_store(const Operation& operation, bool release);
  void prefetch_ownership(const Operation& operation);
  bool load_from_buffer(const Operation& operation, Value& value);
  bool issue_load(Operation& operation, std::size_t word, OverlappedLoads& loads);
  void wait_until_drained();
  void wait_turn();
  void suspend(Status status);
  // When the operation that comes next was first wanted.
  [[nodiscard]] Tick first_issued_at() const { return put_off_since_ < now_ ? put_off_since_ : now_; }
  void try_again(Tick at);
  // A computation of so many instructions, or of time in which so many would fit.
  void pass(std::int64_t cycles, std::int64_t instructions);
  Tick fetch_code(std::int64_t instructions);
  void fetch_and_translate(Address address);
  Value load_in_spin(Address address, int bytes);
  void wait_for(Tick ticks);
  // What becomes of the speed of another thread of the core that begins to compute at `at`.
  [[nodiscard]] int sibling_issue_pct(Tick at) const;
  // A program may end with a computation, whose time is still to pass.
  [[nodiscard]] bool takes_issue_slots(Tick at) const {
    return !spin_.active() && (status_ == Status::ready || (status_ == Status::ended && now_ > at));
  }
  FunctionId change_function(FunctionId function);
  void forget_limits() { limit_ = fast_limit_ = 0; }

  void pause_spin();
  void park(std::span<const Value> values, int bytes);
  void count_spins_until(Tick limit);
  void resume_spin(Tick at);
  void unwatch_words();

  void post_interrupt(CpuId target, int vector, double delay_ns);
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
  Footprint* footprint_;
  const CoreSpec* spec_;
  CpuId id_;
  int index_;

  // The path of a hit.
  Tick now_ = 0;         // local time: at or after that of its turn
  Tick fast_limit_ = 0;  // limit_, or 0 while the store buffer is not empty
  Tick nearest_latency_;
  Tick cycle_;
  bool alone_;              // no other thread in its core
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

  Spin spin_;
  ThreadInterrupts interrupts_;
  InterruptHandler handler_;

  // For the watchdog: instructions that a spin executed, or that were counted before the measured time; calls of compute().
  std::int64_t spin_loads_ = 0;
  std::int64_t counted_before_measuring_ = 0;
  std::int64_t computed_ = 0;

  static constexpr int kMostPastEnd = 10'000;
  int computed_past_end_ = 0;  // calls

  FunctionId function_ = 0;
  Tick function_since_ = 0;
  ThreadCounters counters_;
  std::array<std::int64_t, kTallies> tallies_{};
};

}  // namespace linebounce
