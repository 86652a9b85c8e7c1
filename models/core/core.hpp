// A core: its hardware threads, its private caches, and what makes them agree with the rest of the machine about time.
//
// A thread's local time runs ahead of the machine's while its operations touch nothing but these caches. An operation at time t
// may run iff t lies before the horizon: the earliest time at which anything from outside could still touch them,
//   min( what the bus has announced, the next turn of anybody + K ),
// and before what this core itself has still to do first: fills, store-buffer drains, interrupts, the start of the measured
// time. Without run-ahead the second term is the next tick; all else is the same code. Why this is exact: docs/engine.md.
//
// A core is one fiber, resumed when its turn on the event scheduler has come. With one hardware thread the program runs on it
// directly; several are fibers of their own, taken in order of (time, number).
#pragma once

#include <boost/context/fiber.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <systemc>
#include <vector>

#include "models/bus/announcements.hpp"
#include "models/core/footprint.hpp"
#include "models/core/hardware_thread.hpp"
#include "models/event_scheduler.hpp"
#include "models/failure.hpp"
#include "models/timeline.hpp"

namespace linebounce {

class Core final : public sc_core::sc_module, public CacheUnitOwner, public EventScheduler::Part {
 public:
  using Program = std::function<void(Cpu&)>;

  struct Wiring {
    const Announcements* announcements;  // of the core's bus
    Tick lookahead;                      // K of the machine
    TransitionLog* log;
    Observer* observer;
    Timeline* timeline = nullptr;  // null: nobody wants one
    FailureSink* failures;
  };

  Core(sc_core::sc_module_name name, const CoreSpec& spec, int client, CacheAgent agent, const std::vector<CpuId>& threads,
       const Wiring& wiring);

  sc_core::sc_port<Bus> bus;
  void end_of_elaboration() override;

  // What thread `index` of this core runs. REQUIRES: the simulation has not started.
  void set_program(int index, Program program) { programs_[static_cast<std::size_t>(index)] = std::move(program); }
  // Unwinds those that were left in the middle.
  void unwind_programs() {
    fibers_.clear();
    fiber_ = {};
  }
  // See CacheUnit::set_tap.
  void set_tap(ProgramTap* tap);
  // Another core's thread, for interrupts. REQUIRES: called once before the simulation starts.
  void set_peers(std::function<std::pair<Core*, HardwareThread*>(CpuId)> find) { find_peer_ = std::move(find); }
  void set_functions(std::size_t count, std::span<const FunctionId> user);
  // REQUIRES: the simulation has not started.
  void set_timeline(Timeline& timeline) { wiring_.timeline = &timeline; }

  [[nodiscard]] HardwareThread& thread(int index) { return *threads_[static_cast<std::size_t>(index)]; }
  [[nodiscard]] int threads() const { return static_cast<int>(threads_.size()); }
  [[nodiscard]] CacheUnit& unit() { return unit_; }
  [[nodiscard]] bool ended() const;
  // It has come to the end of the measured time.
  [[nodiscard]] bool stopped() const { return stopped_; }
  // Grows with every operation that is no spin, and with time computed: what a watchdog looks at.
  [[nodiscard]] std::int64_t progress() const;
  // Something comes by itself after `now`: a computation ends, an interrupt arrives.
  [[nodiscard]] bool waits_for_time(Tick now) const;
  // The local time of the thread that is furthest ahead.
  [[nodiscard]] Tick latest() const;
  // How many turns it had.
  [[nodiscard]] std::int64_t activations() const { return activations_; }
  // Where every thread stands, a line of text each.
  [[nodiscard]] std::string describe() const;
  // After the simulation: accounts for what goes on until `end`.
  void finish_measuring(Tick end);

  // CacheUnitOwner
  void completed(HardwareThread& thread, Value result, Tick ends) override;
  void drained(HardwareThread& thread, int entry_id, Tick at) override;
  void loaded(HardwareThread& thread, OverlappedLoads& loads, std::size_t word, Value value, Tick ends) override;
  void try_again(Tick at, Source source) override;
  void watched_line_changed(LineAddr line, Tick at) override;
  void posted() override;
  void wake_at(Tick at) override;
  void report_miss(HardwareThread& thread, const Operation& operation, Source source, Tick at) override;

 private:
  friend class HardwareThread;
  static constexpr int kNoThread = -1;

  void turn() override;
  boost::context::fiber run(boost::context::fiber&& giver);
  void run_programs();
  void run_thread(HardwareThread& cpu);
  void run_fibers();

  // The threads' side: returns when a thread is ready and its time has come; with several threads, the caller.
  void wait_turn();
  // Works off what is due until a thread may run; waits for turns meanwhile.
  HardwareThread& next_runner();
  [[nodiscard]] Tick horizon();
  [[nodiscard]] Tick next_item() const;
  void run_item(Tick at);
  void run_drain(HardwareThread& cpu, Tick at);
  void begin_measuring(Tick at);
  HardwareThread& next_runner_alone();
  [[nodiscard]] HardwareThread* earliest_ready() const;
  [[nodiscard]] int issue_pct_beside_siblings(const HardwareThread& cpu) const;
  [[nodiscard]] Tick sibling_limit(const HardwareThread& cpu) const;
  void wait_for_turn(Tick until);
  // Around an access of thread `actor`, or of none (kNoThread): parked siblings' lines get the ages that they have by then, and
  // a sibling whose line was pushed out of the nearest cache goes on.
  void before_access(Tick at, int actor);
  void after_access(Tick at);
  // The lines of all threads that are still parked.
  void rewatch();

  const CoreSpec spec_;
  Wiring wiring_;
  CacheUnit unit_;
  std::unique_ptr<Footprint> footprint_;  // null: the machine has none
  std::vector<std::unique_ptr<HardwareThread>> threads_;
  HardwareThread* only_ = nullptr;  // null: there are several
  std::vector<Program> programs_;
  boost::context::fiber fiber_;    // the core's own, while it waits for a turn
  boost::context::fiber resumer_;  // who gave it the turn that it has
  std::vector<boost::context::fiber> fibers_;
  boost::context::fiber host_;
  std::function<std::pair<Core*, HardwareThread*>(CpuId)> find_peer_;
  Tick boundary_;         // the start of the measured time; kNever when it has passed
  bool stopped_ = false;  // the end has come
  int parked_ = 0;
  std::int64_t activations_ = 0;
  int actor_ = kNoThread;  // whose access runs; at equal times those with smaller numbers come first
};

}  // namespace linebounce
