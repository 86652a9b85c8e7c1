// A whole machine, built from its specification: cores, caches, buses, memory and, if the machine has nodes, the network.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "models/bus/plain_memory.hpp"
#include "models/bus/snooping_bus.hpp"
#include "models/core/core.hpp"
#include "models/event_scheduler.hpp"
#include "models/machine/machine_protocols.hpp"
#include "models/machine_context.hpp"
#include "models/machine_layout.hpp"
#include "models/machine_spec.hpp"
#include "models/memory/homes.hpp"
#include "models/memory/line_store.hpp"
#include "models/network/network.hpp"
#include "models/node/coherence_controller.hpp"

namespace linebounce {

class Machine {
 public:
  // Statistics count events from `warmup_us` on, for `measure_us`. If `measure_us` is 0, they count until every program has
  // ended. Errors: std::invalid_argument, with a text for the user, for a machine that can't be simulated.
  Machine(const MachineSpec& spec, const MachineProtocols& protocols, const EngineSpec& engine, double warmup_us,
          double measure_us, Observer& observer);

  [[nodiscard]] const Timebase& timebase() const { return timebase_; }
  [[nodiscard]] const MachineLayout& layout() const { return layout_; }
  [[nodiscard]] LineStore& store() { return store_; }
  [[nodiscard]] Homes& homes() { return homes_; }
  [[nodiscard]] const TransitionLog& log() const { return log_; }
  [[nodiscard]] int buses() const { return static_cast<int>(buses_.size()); }
  // The statistics of all buses, added up.
  [[nodiscard]] BusStatistics bus_statistics() const;
  // Null if the machine has no nodes.
  [[nodiscard]] const Network* network() const { return network_.get(); }
  [[nodiscard]] int cpus() const { return static_cast<int>(layout_.cpus.size()); }
  [[nodiscard]] int cores() const { return static_cast<int>(cores_.size()); }
  [[nodiscard]] const SnoopingBus& bus(int number) const { return *buses_[number]; }
  [[nodiscard]] HardwareThread& cpu(int number) { return core_of(number).thread(layout_.cpus[number].thread); }
  [[nodiscard]] const CoreSpec& core_spec() const { return core_spec_; }

  void set_program(int cpu, Core::Program program);
  // Attaches a tap to all CPUs; null detaches it. REQUIRES: run() is not under way.
  void set_tap(ProgramTap* tap);
  // Sets the number of functions that programs may enter, and which of them are user code. The model of a core's TLB and code
  // cache needs both. REQUIRES: called before run().
  void set_functions(std::size_t count, std::span<const FunctionId> user = {});
  // Attaches a listener to every step of the run; null detaches it. The listener is told of each hit only if a tap is attached,
  // too. REQUIRES: run() is not under way.
  void set_step_listener(StepListener* listener);
  // Replaces the timing of the node's memory: `memory` decides when that memory answers. REQUIRES: called before the
  // simulation starts; `memory` outlives it.
  void set_memory(int node, MemoryTiming& memory);
  [[nodiscard]] Tick lookahead() const { return buses_.front()->announcements().lookahead(); }
  // REQUIRES: called before run().
  void set_timeline(Timeline& timeline);

  // Runs all programs to the end. Calls `progress` now and then with the fraction done, 0 to 1. REQUIRES: called only once.
  // Errors: ModelFailure, and any exception that a program throws.
  void run(const std::function<void(double)>& progress = {});
  // Runs a part of run(): the turns before `until`. Returns true if there is more. A good length for a part is slice().
  bool advance(Tick until, const std::function<void(double)>& progress = {});
  [[nodiscard]] Tick slice() const;
  [[nodiscard]] Tick now() const { return scheduler_.now(); }

  // Alternative to run() for a caller that wakes CPUs from outside (SystemC's modules). Call expect_requests() once, then
  // run_turns() repeatedly. A program sleeps (Cpu::sleep) until it is woken.
  void expect_requests() { scheduler_.expect_outside(); }
  // Runs all turns that are due before `until`. Errors: as run(), but no deadlock is found.
  void run_turns(Tick until) { scheduler_.run_until(until); }
  [[nodiscard]] Tick next_turn() const { return scheduler_.next(); }
  // Wakes the CPU's program at `at`, or in its first clock cycle after that. REQUIRES: at >= now().
  void wake(int cpu, Tick at);
  // Unwinds programs that the end or the failure of the run has interrupted. Listeners, and objects that programs use, must
  // outlive this call; without the call, they must outlive the machine.
  void unwind_programs();

  // The pair prefetches of all cores in the measured time, added up.
  [[nodiscard]] CacheUnit::PairPrefetches pair_prefetches() const;

  // The end and the length of the measured time.
  [[nodiscard]] Tick finished_at() const { return finished_at_; }
  [[nodiscard]] Tick measured() const { return std::max<Tick>(0, finished_at_ - core_spec_.warmup_end); }

  // The number of turns that buses, cores and the network have taken, for the `bench` command.
  [[nodiscard]] std::int64_t turns() const;

 private:
  [[nodiscard]] Core& core_of(int cpu) { return *cores_[layout_.cpus[cpu].core]; }
  void build_buses();
  void build_nodes();
  void build_cores(Observer& observer);
  void connect();
  [[nodiscard]] std::int64_t progress_count() const;
  [[nodiscard]] bool all_ended() const;
  bool is_over(const std::function<void(double)>& progress);
  void finish();
  [[nodiscard]] std::string describe_pending(bool with_cpus) const;
  void stuck(const char* what) const;
  // Errors: ModelFailure if the counts of different parts of the machine contradict each other.
  void require_conservation();

  const MachineSpec spec_;
  MachineLayout layout_;
  Timebase timebase_;
  CoreSpec core_spec_;
  LineStore store_;
  Homes homes_;
  MachineProtocols protocols_;
  TransitionLog log_;
  const MachineContext context_{spec_, layout_, timebase_, store_, homes_, log_, core_spec_.warmup_end, core_spec_.end};
  EventScheduler scheduler_;
  std::vector<std::unique_ptr<SnoopingBus>> buses_;
  // The memory side of the buses: plain memory, or the parts of a machine with nodes.
  std::unique_ptr<PlainMemory> memory_;
  std::unique_ptr<Network> network_;
  std::vector<std::unique_ptr<CoherenceController>> controllers_;  // indexed by endpoint of the network
  std::vector<std::unique_ptr<Core>> cores_;
  Tick watchdog_;
  std::int64_t last_count_ = -1;  // progress_count() at the end of the last slice; last_progress_: when it last grew
  Tick last_progress_ = 0;
  Tick finished_at_ = 0;
};

}  // namespace linebounce
