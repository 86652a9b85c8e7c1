// The timed front of one core's private caches: tries operations, keeps misses under way, takes what the bus delivers.
// Several hardware threads may use it; it never waits itself.
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

// Who is told what becomes of an operation. Implemented by Core.
class CacheUnitOwner {
 public:
  virtual ~CacheUnitOwner() = default;
  // The operation of `thread` has run with this result; it occupies the thread until `ends`.
  virtual void completed(HardwareThread& thread, Value result, Tick ends) = 0;
  // The same for the entry at `entry` of its store buffer.
  virtual void drained(HardwareThread& thread, int entry_id, Tick at) = 0;
  // The same for one of the loads that it has under way together.
  virtual void loaded(HardwareThread& thread, OverlappedLoads& loads, std::size_t word, Value value, Tick ends) = 0;
  // Something changed at `at`, so that what was put off may be tried again.
  virtual void try_again(Tick at, Source source) = 0;
  // A watched line changed from outside, or left the nearest cache.
  virtual void watched_line_changed(LineAddr line, Tick at) = 0;
  // A request has gone to the bus: what was known about the future is old.
  virtual void posted() = 0;
  // Have a turn at `at` at the latest.
  virtual void wake_at(Tick at) = 0;
  virtual void report_miss(HardwareThread& thread, const Operation& operation, Source source, Tick at) = 0;
};

class CacheUnit final : public BusClient {
 public:
  CacheUnit(const CoreSpec& spec, CacheAgent agent, int client, TransitionLog& log, CacheUnitOwner& owner, int threads);
  // REQUIRES: called once, before the simulation starts.
  void connect(Bus& bus) { bus_ = &bus; }
  // The listener to every call of the threads' programs, and to its effect; null: none. REQUIRES: no call is under way.
  void set_tap(ProgramTap* tap) { tap_ = tap; }
  [[nodiscard]] ProgramTap* tap() const { return tap_; }
  [[nodiscard]] bool serves_one_thread() const { return locks_.size() == 1; }
  // Who hears of every step; null: nobody.
  [[nodiscard]] StepListener* listener() const { return log_->listener(); }

  enum class Outcome : std::uint8_t { done, waits_for_fill, try_again, try_at };
  struct Attempt {
    Outcome outcome = Outcome::done;
    int level = 0;    // done: which level held it
    Value value = 0;  // done
    Tick at = 0;      // done: the thread is occupied until then; try_at: then
  };

  // On whose behalf an operation runs, and who waits for its line: the thread itself, the store-buffer entry `drain`, word
  // number `word` of `overlapped`, or nobody (`prefetches`).
  struct Requester {
    HardwareThread* thread = nullptr;
    int drain = -1;
    OverlappedLoads* overlapped = nullptr;
    std::size_t word = 0;
    bool prefetches = false;
  };

  // Runs the operation at `now` if the line and the right to it are here; else asks for them.
  Attempt attempt(Operation& operation, Tick now, const Requester& requester);

  // For an access at `at` that is no hit of the nearest level, but a mere hit of a farther one: what attempt() does before its
  // effect, without what an operation needs that may have to wait. Null, with nothing done: it isn't. REQUIRES: one hardware
  // thread.
  Copy* bring_near(Address address, Access access, Tick at, int& level);

  // Asks for a line without waiting for it. Nothing happens if it is here, on its way, or no miss can be added.
  void prefetch(Address address, Access access, Tick now, HardwareThread& thread);
  // The same for the line of an operation that will write it, unless the operation is to run at memory.
  void prefetch_ownership(const Operation& operation, Tick now, HardwareThread& thread) {
    if (!may_run_far(operation)) prefetch(operation.address, kWriteAccess, now, thread);
  }

  // Gives free what was locked until `now` or earlier. Whoever looks at Copy::locked calls it first.
  void expire_locks(Tick now) {
    if (locks_.size() > 1) free_expired(now);
  }

  // Fills that are due.
  [[nodiscard]] Tick next_fill() const { return next_fill_; }
  void run_fill(Tick at);

  // An access at `at` uses the data of this copy. Errors: ModelFailure for a stale copy.
  void use(Copy& copy, Tick at) const {
    if (!agent_.is_latest(copy)) [[unlikely]]
      stale(copy, at);
    copy.last_touch = at;
  }

  // Marks the lines of a parked spin. Null unless the nearest level holds the address, readable, and no miss of its line is
  // under way: a sibling's store may be what it waits for.
  Copy* watch(Address address);
  // The same for a line that is watched already, by another thread too: wherever it is now.
  void rewatch(Address address);
  void unwatch(LineAddr line);
  // The word as it is in this copy now; no access.
  [[nodiscard]] Value peek(const Copy& copy, Address address, int bytes) const;

  // Lines that were asked for because the other one of their pair was missing, since reset_pair_prefetches(): all of them, and
  // those that another cache had to give.
  struct PairPrefetches {
    std::int64_t lines = 0;
    std::int64_t from_caches = 0;
  };
  [[nodiscard]] const PairPrefetches& pair_prefetches() const { return pair_prefetches_; }
  void reset_pair_prefetches() { pair_prefetches_ = {}; }

  // How long the operation holds its line.
  [[nodiscard]] Tick hold(OperationKind kind) const;

  CacheAgent& caches() override { return agent_; }
  Tick locked_until(LineAddr line) const override;
  Tick deliver(Copy& copy, Tick pins, Source source) override;
  WrittenWord write_in_order(Copy& copy, Tick at) override;
  void operate(Copy& copy, const LineData& line, Tick at) override;
  void operated(LineAddr line, Tick pins, Source source) override;
  void written_back(Tick at) override;
  void watched_copy_changed(LineAddr line, Tick at) override { owner_->watched_line_changed(line, at); }

  // Every miss under way, a line of text each.
  [[nodiscard]] std::string describe_pending() const;

 private:
  struct Mshr {
    Copy* copy = nullptr;  // null: its atomic operation ran at memory, and there is none any more
    Requester requester;
    bool of_pair = false;       // nobody's: it stays in the outermost level
    Tick fill_at = kNever;      // of what was ordered last; kNever: a request is not ordered yet
    bool line_arrived = false;  // the line is here, and a second request for the operation on its way
    // The operation ran in its order step, with this result.
    std::optional<Value> written = std::nullopt;
    Source source = Source::local_memory;
    Operation operation;
  };
  struct Lock {
    LineAddr line;
    Tick until = -1;
  };
  struct Gate;

  void free_expired(Tick now);
  void find_next_fill();
  [[nodiscard]] bool awaited(const Copy& copy) const;
  // When the access that waits for this copy runs; kNever: none does, or it is not known.
  [[nodiscard]] Tick access_due(const Copy& copy) const;
  // The miss of this copy whose request is being ordered; null if nobody waits for it.
  [[nodiscard]] Mshr* being_ordered(const Copy& copy);
  Attempt run_hit(Operation& operation, Copy& copy, int level, Tick now, HardwareThread& thread);
  Attempt start_miss(Operation& operation, Copy* copy, int level, Tick now, const Requester& requester);
  bool request(const Operation& operation, Copy* copy, int level, Tick now, const Requester& requester);
  void request_pair(const Operation& operation, Tick now, HardwareThread& thread);
  [[nodiscard]] bool has_room() const { return mshrs_.size() < static_cast<std::size_t>(spec_.outstanding_misses); }
  [[nodiscard]] Copy* allocate(Address address, Tick now);
  void post(const Mshr& mshr, Tick now, Tick leaves);
  void finish(const Mshr& mshr);
  // The operation's effect on data and versions; returns what was there. Errors: ModelFailure for a stale copy.
  Value apply(const HardwareThread& thread, const Operation& operation, Copy& copy, Tick at, Served served);
  void lock(Copy& copy, OperationKind kind, Tick from, const HardwareThread& thread);
  // The first end of a lock after `now`; kNever if there is none.
  [[nodiscard]] Tick next_unlock(Tick now) const;
  [[nodiscard]] AccessResult result_of(CacheEvent access, StateId state) const {
    return agent_.table().states[state].access[access];
  }
  [[nodiscard]] AccessResult result_of(const Operation& operation, StateId state) const {
    const StateInfo& info = agent_.table().states[state];
    if (operation.access_kind() == AccessKind::atomic) return info.atomic;
    return info.access[operation.writes() ? kStore : kLoad];
  }
  // That it runs at memory where it is no hit: then its line does not come.
  [[nodiscard]] bool may_run_far(const Operation& operation) const {
    return operation.access_kind() == AccessKind::atomic && bus_->protocol().has_far_atomics();
  }
  // The data or response of its request is at the pins then.
  void fills(Mshr& mshr, Tick pins);
  [[noreturn]] void stale(const Copy& copy, Tick at) const;

  const CoreSpec spec_;
  CacheAgent agent_;
  int client_;
  Bus* bus_ = nullptr;
  ProgramTap* tap_ = nullptr;
  TransitionLog* log_;
  CacheUnitOwner* owner_;
  std::vector<Mshr> mshrs_;
  Tick next_fill_ = kNever;  // the earliest of theirs
  std::vector<Lock> locks_;  // by hardware thread of this core
  int write_backs_ = 0;
  PairPrefetches pair_prefetches_;
};

}  // namespace linebounce
