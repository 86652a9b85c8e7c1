// A core: its hardware threads and private caches, and the order in which their operations and events run.
//
// A thread's local time may run ahead of the machine's time while its operations access only these caches. An operation at time
// t may run if t lies before the core's own next item (a fill, a store-buffer drain, an interrupt, or the start of the measured
// time) and before the horizon, the earliest time at which another part of the machine could access these caches:
//   min( next access that the bus has announced, next turn of any part on the event scheduler + K ).
// K is the machine's lookahead. If run-ahead is off, the second term is the next tick; nothing else differs. docs/engine.md
// explains why run-ahead is exact.
//
// A core is one fiber, which the event scheduler resumes when the core's turn comes. A single hardware thread runs its program
// on that fiber; several have a fiber each, and run in the order of (time, longest wait, number).
#pragma once

#include <boost/context/fiber.hpp>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "models/bus/announcements.hpp"
#include "models/core/footprint.hpp"
#include "models/core/hardware_thread.hpp"
#include "models/event_scheduler.hpp"
#include "models/timeline.hpp"

namespace linebounce {

class Core final : public CacheUnitOwner, public ThreadOwner, public EventScheduler::Part {
 public:
  using Program = std::function<void(Cpu&)>;
  using FindThread = std::function<HardwareThread&(CpuId)>;

  struct Wiring {
    const Announcements* announcements;  // the announcements of the core's bus
    Tick lookahead;                      // the machine's lookahead K
    TransitionLog* log;
    Observer* observer;
  };

  // REQUIRES: `spec` outlives the core.
  Core(const CoreSpec& spec, int client, CacheAgent agent, const std::vector<CpuId>& threads, const Wiring& wiring);
  // Programs that have not ended are unwound while the caches that they use are still there.
  ~Core() override { unwind_programs(); }
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  // The next five functions REQUIRE that the simulation has not started. connect() also REQUIRES that the core is a part of the
  // event scheduler, and schedules its first turn.
  void connect(Bus& bus);
  void set_program(int thread, Program program) { programs_[thread] = std::move(program); }
  // Sets the function that returns any thread of the machine. This core's threads need it to interrupt that thread.
  void set_find_thread(FindThread find) { find_thread_ = std::move(find); }
  void set_functions(std::size_t count, std::span<const FunctionId> user);
  void set_timeline(Timeline& timeline);
  // See CacheUnit::set_tap.
  void set_tap(ProgramTap* tap);
  // Unwinds the fibers of programs that have not ended.
  void unwind_programs() {
    fibers_.clear();
    fiber_ = {};
  }

  [[nodiscard]] HardwareThread& thread(int index) { return *threads_[index]; }
  [[nodiscard]] int threads() const { return static_cast<int>(threads_.size()); }
  [[nodiscard]] CacheUnit& unit() { return unit_; }
  [[nodiscard]] bool ended() const;
  // True if the core has reached the end of the measured time.
  [[nodiscard]] bool stopped() const { return stopped_; }
  // For the watchdog: see HardwareThread::progress and HardwareThread::waits_for_time.
  [[nodiscard]] std::int64_t progress() const;
  [[nodiscard]] bool waits_for_time(Tick now) const;
  // Local time of the thread that is furthest ahead.
  [[nodiscard]] Tick latest() const;
  // Number of times that the core has waited for the event scheduler so far.
  [[nodiscard]] std::int64_t activations() const { return activations_; }
  // One line of text for each thread, with its state.
  [[nodiscard]] std::string describe() const;
  // Called after the simulation: adds intervals that are still open at `end`, such as a sleep, to the threads' counters.
  void finish_measuring(Tick end);

  // The functions of CacheUnitOwner.
  void retry(Tick at, Source source) override;
  void watched_line_changed(LineAddr line, Tick at) override;
  void reset_limits() override;
  void wake_at(Tick at) override;

  // The functions of ThreadOwner.
  void wait_turn() override;
  HardwareThread& thread(CpuId id) override { return find_thread_(id); }
  void before_access(Tick at, int actor) override;
  void after_access(Tick at) override;
  [[nodiscard]] int issue_pct_beside_siblings(const HardwareThread& thread) const override;
  void spin_parked() override { ++parked_; }
  void spin_resumed(Tick at) override;
  void rewatch() override;

 private:
  template <std::size_t kCount>
  using Threads = std::span<const std::unique_ptr<HardwareThread>, kCount>;

  // The function of EventScheduler::Part.
  void turn() override;

  void run_programs();
  void run_program(HardwareThread& cpu);
  void run_fibers();

  // Runs due items until a thread may run, and returns that thread. Suspends the core's fiber while nothing may run. The
  // version for one thread has no loops over threads.
  HardwareThread& next_runner();
  template <std::size_t kCount>
  HardwareThread& next_runner(Threads<kCount> threads);
  template <std::size_t kCount>
  [[nodiscard]] Tick next_item(Threads<kCount> threads) const;
  void run_item(Tick at);
  void begin_measuring(Tick at);
  [[nodiscard]] Tick horizon();
  void wait_for_turn(Tick until);
  // The current access is at `at`. A parked sibling's loads before the returned time go before this access. At equal times,
  // the thread with the smaller number in the core goes first.
  [[nodiscard]] Tick turn_beside_access(const HardwareThread& sibling, Tick at) const {
    return at + (sibling.index_in_core() < actor_ ? 1 : 0);
  }

  // Members that a turn uses come first and lie together, on few cache lines of the host.
  const CoreSpec& spec_;  // one for all cores of the machine
  Wiring wiring_;
  Tick warmup_end_;  // start of the measured time; kNever once it has begun
  std::vector<std::unique_ptr<HardwareThread>> threads_;
  // A fiber object holds a suspended fiber and is empty while that fiber runs.
  boost::context::fiber fiber_;      // the core's own fiber
  boost::context::fiber scheduler_;  // the context that resumed fiber_
  std::exception_ptr failure_;       // the exception that has ended fiber_
  std::int64_t activations_ = 0;
  int parked_ = 0;         // number of parked spins
  int actor_ = kNoThread;  // index of the thread that makes the current access
  CacheUnit unit_;
  std::unique_ptr<Footprint> footprint_;       // null if the machine models neither TLB nor instruction cache
  std::vector<Program> programs_;              // the threads' programs, by thread
  std::vector<boost::context::fiber> fibers_;  // the threads' own fibers; empty if the core has one thread
  boost::context::fiber dispatcher_;           // the core's own fiber, while a thread's fiber runs
  FindThread find_thread_;
  bool stopped_ = false;
};

}  // namespace linebounce
