// The timed front end of one core's private caches: attempts operations, tracks outstanding misses in MSHRs, and handles what
// the bus delivers. The core's hardware threads share it. It never waits itself.
#pragma once

#include <optional>
#include <vector>

#include "models/bus/bus_client.hpp"
#include "models/coherence/transition_log.hpp"
#include "models/core/core_spec.hpp"
#include "models/core/cpu_operation.hpp"

namespace linebounce {

class HardwareThread;
class ProgramTap;

// What a cache unit asks of its core.
class CacheUnitOwner {
 public:
  virtual ~CacheUnitOwner() = default;
  // Something changed at `at`: every deferred operation of the core is retried. `source` supplied the line that arrived.
  virtual void retry(Tick at, Source source) = 0;
  // Another agent or a sibling thread changes a watched line at `at`, or the caches evict it.
  virtual void watched_line_changed(LineAddr line, Tick at) = 0;
  // A request went to the bus, so the limits of all threads of the core may be too late.
  virtual void reset_limits() = 0;
  // Asks for a turn of the core at `at` or earlier.
  virtual void wake_at(Tick at) = 0;
};

class CacheUnit final : public BusClient {
 public:
  CacheUnit(const CoreSpec& spec, CacheAgent agent, int client, TransitionLog& log, CacheUnitOwner& owner, int threads);
  // REQUIRES: called once, before the simulation starts.
  void connect(Bus& bus) { bus_ = &bus; }
  // Attaches a listener to the threads' programs; null detaches it. REQUIRES: no call is in progress.
  void set_tap(ProgramTap* tap) { tap_ = tap; }
  [[nodiscard]] ProgramTap* tap() const { return tap_; }
  // The listener to every step of the simulation, or null.
  [[nodiscard]] StepListener* listener() const { return log_->listener(); }

  enum class Outcome : std::uint8_t { done, waits_for_fill, retry_on_change, retry_at };
  struct Attempt {
    Outcome outcome = Outcome::done;
    int level = 0;    // done: the level that hit
    Value value = 0;  // done: the word's old value
    Tick at = 0;      // done: the operation occupies the thread until then; retry_at: time of the next attempt
  };

  // What an operation runs for, and what waits for its line: the thread itself, its store-buffer entry `drain`, word `word` of
  // its load_all(), or nothing, for a prefetch.
  struct Requester {
    HardwareThread* thread = nullptr;
    int drain = -1;
    OverlappedLoads* overlapped = nullptr;
    std::size_t word = 0;
    bool prefetches = false;
  };

  // Runs the operation at `now` if the caches hold its line with the right to access it; else requests the line.
  Attempt attempt(Operation& operation, Tick now, const Requester& requester);

  // Fast path for an access at `at` that misses the nearest level and hits a farther one: promotes the line and returns its
  // copy with that level. A null copy means that the slow path must run. REQUIRES: the core has one hardware thread.
  CacheAgent::Lookup hit_farther(Address address, Access access, Tick at);

  // Requests a line for later. Does nothing if the line is present or being fetched, or no MSHR is free.
  void prefetch(Address address, Access access, Tick now, HardwareThread& thread);
  // Prefetches the line that the operation will write, unless memory may execute the operation.
  void prefetch_ownership(const Operation& operation, Tick now, HardwareThread& thread) {
    if (!may_execute_far(operation)) prefetch(operation.address, kWriteAccess, now, thread);
  }

  // Unlocks lines whose atomics ended by `now`. REQUIRES: called before Copy::locked is read.
  void expire_locks(Tick now) {
    if (locks_.size() > 1) unlock_expired(now);
  }

  // Time of the next fill, or kNever.
  [[nodiscard]] Tick next_fill() const { return next_fill_; }
  // Runs one fill that is due at `at`.
  void run_fill(Tick at);

  // Accesses the copy's data at `at`. Errors: ModelFailure for a stale copy.
  void use(Copy& copy, Tick at) const {
    if (!agent_.is_latest(copy)) [[unlikely]]
      fail_as_stale(copy, at);
    copy.last_touch = at;
  }

  // Watches the address's line for a parked spin, and returns its copy. Null if the nearest level has no readable copy, or the
  // line has an MSHR: that may be for the sibling's store that the spin waits for.
  Copy* watch(Address address);
  // Stops watching the address's line, or watches it again after another thread has stopped; whichever level holds it.
  void set_watched(Address address, bool watched);
  // Reads a word of the copy without an access.
  [[nodiscard]] Value peek(const Copy& copy, Address address, int bytes) const;

  // Lines requested only because the other line of their pair missed, since reset_pair_prefetches().
  struct PairPrefetches {
    std::int64_t lines = 0;
    std::int64_t from_caches = 0;  // those that another cache supplied
  };
  [[nodiscard]] const PairPrefetches& pair_prefetches() const { return pair_prefetches_; }
  void reset_pair_prefetches() { pair_prefetches_ = {}; }

  // BusClient
  CacheAgent& caches() override { return agent_; }
  Tick locked_until(LineAddr line) const override;
  Tick deliver(Copy& copy, Tick pins, Source source) override;
  WrittenWord write_in_order(Copy& copy, Tick at) override;
  void operate(Copy& copy, const LineData& line, Tick at) override;
  void operated(LineAddr line, Tick pins, Source source) override;
  void written_back(Tick at) override;
  void watched_copy_changed(LineAddr line, Tick at) override { owner_->watched_line_changed(line, at); }

  // Every outstanding miss, a line of text each.
  [[nodiscard]] std::string describe_pending() const;

 private:
  struct Mshr {
    Copy* copy = nullptr;  // null if memory executed the operation and the copy is gone
    Requester requester;
    bool pair_prefetch = false;  // fetches the other line of a pair, into the outermost level only
    Tick fill_at = kNever;       // of its latest request; kNever before the bus has ordered it
    bool line_arrived = false;   // the line has arrived, and the protocol has issued a second request for the operation
    // The operation's result if it ran before the fill: in the bus's order step, or at memory.
    std::optional<Value> early_result = std::nullopt;
    Source source = Source::local_memory;
    Operation operation;
  };
  struct Lock {
    LineAddr line;
    Tick until = -1;
  };
  struct Gate;

  // How long the operation holds its line.
  [[nodiscard]] Tick hold(OperationKind kind) const;
  void unlock_expired(Tick now);
  void find_next_fill();
  [[nodiscard]] bool has_mshr(const Copy& copy) const;
  // Time of the fill that a thread or store buffer awaits on this copy; kNever if none does, or before the bus has ordered it.
  [[nodiscard]] Tick access_due(const Copy& copy) const;
  // The copy's MSHR whose request the bus is ordering, or null.
  [[nodiscard]] Mshr* mshr_being_ordered(const Copy& copy);
  Attempt run_hit(Operation& operation, Copy& copy, int level, Tick now, HardwareThread& thread);
  Attempt start_miss(Operation& operation, Copy* copy, int level, Tick now, const Requester& requester);
  bool request(const Operation& operation, Copy* copy, int level, Tick now, const Requester& requester);
  void request_pair(const Operation& operation, Tick now, HardwareThread& thread);
  [[nodiscard]] bool has_free_mshr() const { return std::ssize(mshrs_) < spec_.outstanding_misses; }
  [[nodiscard]] Copy* allocate(Address address, Tick now);
  // Runs the access's row, allocates the MSHR and sends the request, which leaves the core at `leaves`.
  void post(const Mshr& mshr, Tick now, Tick leaves);
  void finish(const Mshr& mshr);
  // Applies the operation to data and version; returns the word's old value. Errors: ModelFailure for a stale copy.
  Value apply(const HardwareThread& thread, const Operation& operation, Copy& copy, Tick at, Served served);
  void lock(Copy& copy, OperationKind kind, Tick until, const HardwareThread& thread);
  // When the next lock expires after `now`; kNever if none is held.
  [[nodiscard]] Tick next_unlock(Tick now) const;
  [[nodiscard]] AccessResult result_of(CacheEvent access, StateId state) const {
    return agent_.table().states[state].access[access];
  }
  [[nodiscard]] AccessResult result_of(const Operation& operation, StateId state) const {
    const StateInfo& info = agent_.table().states[state];
    if (operation.access_kind() == AccessKind::atomic) return info.atomic;
    return info.access[operation.writes() ? kStore : kLoad];
  }
  // On a miss, memory executes the operation and the core does not fetch the line.
  [[nodiscard]] bool may_execute_far(const Operation& operation) const {
    return operation.access_kind() == AccessKind::atomic && bus_->protocol().has_far_atomics();
  }
  // Sets the time of the fill. The response reaches the core's pins at `pins`.
  void schedule_fill(Mshr& mshr, Tick pins);
  [[noreturn]] void fail_as_stale(const Copy& copy, Tick at) const;

  const CoreSpec spec_;
  CacheAgent agent_;
  int client_;
  Bus* bus_ = nullptr;
  ProgramTap* tap_ = nullptr;
  TransitionLog* log_;
  CacheUnitOwner* owner_;
  std::vector<Mshr> mshrs_;
  Tick next_fill_ = kNever;  // minimum of their fill_at
  std::vector<Lock> locks_;  // by hardware thread of this core
  int pending_write_backs_ = 0;
  PairPrefetches pair_prefetches_;
};

}  // namespace linebounce
