// The timed front end of one core's private caches: attempts operations, tracks outstanding misses in MSHRs, and handles what
// the bus delivers. The core's hardware threads share it. No function of the cache unit suspends its caller.
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

// A core as its cache unit sees it.
class CacheUnitOwner {
 public:
  virtual ~CacheUnitOwner() = default;
  // Called when a fill or write-back completes at `at`: retries the core's deferred operations. `source`: the fill's supplier.
  virtual void retry(Tick at, Source source) = 0;
  // Called when the line of a parked spin's word changes at `at`: another agent or a sibling changes it, or the caches evict
  // it.
  virtual void watched_line_changed(LineAddr line, Tick at) = 0;
  // Makes the core's threads ask for new limits. The core's request to the bus may let the bus access the caches earlier than
  // the old limits assume.
  virtual void reset_limits() = 0;
  // Schedules the core's next turn on the event scheduler for `at` or earlier.
  virtual void wake_at(Tick at) = 0;
};

class CacheUnit final : public BusClient {
 public:
  // REQUIRES: `spec` outlives the cache unit.
  CacheUnit(const CoreSpec& spec, CacheAgent agent, int client, TransitionLog& log, CacheUnitOwner& owner, int threads);
  // REQUIRES: called once, before the simulation starts.
  void connect(Bus& bus) { bus_ = &bus; }
  // Attaches a listener to the calls that this core's programs make; null detaches it. REQUIRES: no such call is in progress.
  void set_tap(ProgramTap* tap) { tap_ = tap; }
  [[nodiscard]] ProgramTap* tap() const { return tap_; }
  // The listener to every step of the simulation, or null.
  [[nodiscard]] StepListener* listener() const { return log_->listener(); }

  enum class Outcome : std::uint8_t { done, waits_for_fill, retry_on_change, retry_at };
  struct Attempt {
    Outcome outcome = Outcome::done;
    int level = 0;    // if done: the level that hit
    Value value = 0;  // if done: the word's old value
    Tick at = 0;      // if done: end of the operation; if retry_at: time of the next attempt
  };

  // The thread that issued an operation, and what waits for the operation's line: the store-buffer entry `drain` if it is not
  // -1, word `word` of the load_all() `overlapped` if it is not null, or else the thread. Nothing waits for a prefetch.
  struct Requester {
    HardwareThread* thread = nullptr;
    int drain = -1;
    OverlappedLoads* overlapped = nullptr;
    std::size_t word = 0;
    bool prefetches = false;
  };

  // Runs the operation at `now` if the caches hold its line with the right to access it. Otherwise requests the line.
  Attempt attempt(Operation& operation, Tick now, const Requester& requester);

  // Fast path for an access at `at`, or at `farther_at` if only a farther level hits: promotes the line, and returns its copy
  // and the level that hit. Returns null if the slow path must run. A `farther_at` of kNever leaves the farther levels to the
  // slow path. REQUIRES: the core has one hardware thread.
  CacheAgent::Lookup hit_any_level(Address address, Access access, Tick at, Tick farther_at);

  // Requests a line before the program needs it. Does nothing if the line is present or being fetched, or no MSHR is free.
  void prefetch(Address address, Access access, Tick now, HardwareThread& thread);
  // Prefetches the line that the operation will write, unless memory may execute the operation.
  void prefetch_ownership(const Operation& operation, Tick now, HardwareThread& thread) {
    if (!may_execute_far(operation)) prefetch(operation.address, kWriteAccess, now, thread);
  }

  // Unlocks lines whose atomic operations ended by `now`. Must be called before Copy::locked is read.
  void expire_locks(Tick now) {
    if (locks_.size() > 1) unlock_expired(now);
  }

  // Time of the next fill, or kNever.
  [[nodiscard]] Tick next_fill() const { return next_fill_; }
  // Runs one fill that is due at `at`.
  void run_fill(Tick at);

  // Checks and records an access to the copy's data at `at`. Errors: ModelFailure for a stale copy.
  void use(Copy& copy, Tick at) const {
    if (!agent_.is_latest(copy)) [[unlikely]]
      fail_as_stale(copy, at);
    copy.last_touch = at;
  }

  // Watches the address's line for a parked spin, and returns the line's copy. Returns null if the nearest level has no
  // readable, unlocked copy. Also returns null if the line has an MSHR: it may belong to a sibling's store that the spin
  // waits for.
  Copy* watch(Address address);
  // True: watches the address's line again, because another thread that watched it has stopped. False: stops watching it. Any
  // level may hold the line.
  void set_watched(Address address, bool watched);
  // Reads a word of the copy. Does not count as an access.
  [[nodiscard]] Value peek(const Copy& copy, Address address, int bytes) const;

  // Counters of pair prefetches, that is, of lines requested only because the other line of their aligned pair missed.
  // reset_pair_prefetches() clears them.
  struct PairPrefetches {
    std::int64_t lines = 0;
    std::int64_t from_caches = 0;  // the lines that another cache supplied
  };
  [[nodiscard]] const PairPrefetches& pair_prefetches() const { return pair_prefetches_; }
  void reset_pair_prefetches() { pair_prefetches_ = {}; }

  // The functions of BusClient.
  CacheAgent& caches() override { return agent_; }
  Tick kept_until(LineAddr line) const override;
  Tick deliver(Copy& copy, Tick pins, Source source, StageId stage, const Waits& waits) override;
  WrittenWord write_in_order(Copy& copy, Tick at) override;
  void operate(Copy& copy, const LineData& line, Tick at) override;
  void operated(LineAddr line, Tick pins, Source source, StageId stage, const Waits& waits) override;
  void written_back(Tick at) override;
  void watched_copy_changed(LineAddr line, Tick at) override { owner_->watched_line_changed(line, at); }

  // One line of text for each outstanding miss.
  [[nodiscard]] std::string describe_pending() const;

 private:
  struct Mshr {
    Copy* copy = nullptr;  // null once memory has executed the operation, because the copy may be gone
    Requester requester;
    bool pair_prefetch = false;  // true if this MSHR fetches the other line of a pair, only into the outermost level
    Tick fill_at = kNever;       // when the latest request's fill runs; kNever until the bus orders the request
    bool line_arrived = false;   // true if the line has arrived, but the protocol has issued another request
    // The operation's result if it ran before the fill: in the bus's order step, or at memory.
    std::optional<Value> early_result = std::nullopt;
    Source source = Source::local_memory;
    StageId stage = kNoStage;
    Waits waits = {};  // waits of the latest request, once the bus has ordered it
    Operation operation;
  };
  struct Lock {
    LineAddr line;
    Tick until = -1;
  };
  struct Gate;

  // How long an operation of this kind keeps other agents from its line, counted from the operation's start.
  [[nodiscard]] Tick hold(OperationKind kind) const;
  // True if the line stays with the core for `hold_ns` after this operation has fetched it.
  [[nodiscard]] bool keeps(const Operation& operation) const {
    return spec_.hold_after == HoldAfter::writes ? operation.writes() : operation.kind == OperationKind::compare_exchange;
  }
  // When the last atomic operation on the line ends; a time in the past if none is under way.
  [[nodiscard]] Tick locked_until(LineAddr line) const;
  void unlock_expired(Tick now);
  void find_next_fill();
  [[nodiscard]] bool has_mshr(const Copy& copy) const;
  // Time of the fill that a thread or store buffer waits for on this copy; kNever if there is none or it isn't ordered yet.
  [[nodiscard]] Tick access_due(const Copy& copy) const;
  // Keeps an owned line, at `at`, until the stores to it that wait in the thread's store buffer have drained, one a cycle.
  void keep_for_stores(Copy& copy, const HardwareThread& thread, Tick at);
  // The copy's MSHR whose request the bus is ordering now, or null.
  [[nodiscard]] Mshr* mshr_being_ordered(const Copy& copy);
  Attempt run_hit(Operation& operation, Copy& copy, int level, Tick now, HardwareThread& thread);
  Attempt start_miss(Operation& operation, const CacheAgent::Lookup& found, Tick now, const Requester& requester);
  bool request(const Operation& operation, const CacheAgent::Lookup& found, Tick now, const Requester& requester);
  void request_pair(const Operation& operation, Tick now, HardwareThread& thread);
  [[nodiscard]] bool has_free_mshr() const { return std::ssize(mshrs_) < spec_.outstanding_misses; }
  [[nodiscard]] Copy* allocate(Address address, Tick now, Slot slot);
  // Runs the access's row of the protocol table, allocates the MSHR and sends the request, which leaves the core at `leaves`.
  void post(const Operation& operation, Copy& copy, const Requester& requester, bool pair_prefetch, Tick now, Tick leaves);
  void finish(const Mshr& mshr);
  // Applies the operation to the copy's data and version. Returns the word's old value. Errors: ModelFailure for a stale copy.
  Value apply(const HardwareThread& thread, const Operation& operation, Copy& copy, Tick at, Served served);
  void lock(Copy& copy, OperationKind kind, Tick until, const HardwareThread& thread);
  // When the next lock expires, after `now`; kNever if no line is locked.
  [[nodiscard]] Tick next_unlock(Tick now) const;
  [[nodiscard]] AccessResult result_of(CacheEvent access, StateId state) const {
    return agent_.table().states[state].access[access];
  }
  [[nodiscard]] AccessResult result_of(const Operation& operation, StateId state) const {
    const StateInfo& info = agent_.table().states[state];
    if (operation.access_kind() == AccessKind::atomic) return info.atomic;
    return info.access[operation.writes() ? kStore : kLoad];
  }
  // True if, on a miss, memory executes the operation instead of the core fetching the line.
  [[nodiscard]] bool may_execute_far(const Operation& operation) const {
    return operation.access_kind() == AccessKind::atomic && bus_->protocol().has_far_atomics();
  }
  // Schedules the fill for a response that reaches the core's pins at `pins`.
  void schedule_fill(Mshr& mshr, Tick pins, StageId stage, const Waits& waits);
  // Reports a stage within the core, from the issue of the operation: the wait until `now`, then the look-up until `to`.
  [[gnu::cold]] StageId tell_core(const Operation& operation, Tick now, Tick to) const;
  [[gnu::cold]] StageId tell_fill(const Mshr& mshr, Tick pins, StageId stage) const;
  [[noreturn]] void fail_as_stale(const Copy& copy, Tick at) const;

  const CoreSpec& spec_;  // one for all cores of the machine
  CacheAgent agent_;
  int client_;
  Bus* bus_ = nullptr;
  ProgramTap* tap_ = nullptr;
  TransitionLog* log_;
  CacheUnitOwner* owner_;
  std::vector<Mshr> mshrs_;
  Tick next_fill_ = kNever;  // the smallest fill_at of all MSHRs
  std::vector<Lock> locks_;  // one lock for each hardware thread of this core
  // The line into which buffered stores drain; other agents can't take it until these stores have drained.
  Lock draining_;
  int pending_write_backs_ = 0;
  PairPrefetches pair_prefetches_;
};

}  // namespace linebounce
