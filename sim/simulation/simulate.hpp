// One run of one point: builds the machine, runs the workload, collects what the results files hold.
#pragma once

#include <functional>
#include <stdexcept>

#include "models/core/program_tap.hpp"
#include "models/observer.hpp"
#include "models/timebase.hpp"
#include "sim/point/point_data.hpp"
#include "sim/point/simulation_input.hpp"

namespace linebounce::workloads {
class AddressSpace;
class LockSet;
class Workload;
}  // namespace linebounce::workloads
namespace linebounce {
class StepListener;
}

namespace linebounce::sim {

// The simulation stopped at a deadlock, livelock, stale value or impossible transition: exit code 4. what() holds the whole
// report (what happened, the line's history, every pending transaction, the seed).
class SimulationFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Listens to what every CPU is asked for, from before the programs begin until after they have ended.
class SimulationTap {
 public:
  virtual ~SimulationTap() = default;
  // Before begin(): the workload, which lives as long as what begin() is given.
  virtual void set_up(const workloads::Workload&) {}
  // The workload is set up. The tap of all CPUs, which lives until this does.
  virtual ProgramTap& begin(const AddressSpace& memory, const LockSet& locks, const Timebase& timebase, int cpus) = 0;
  // Who hears of every step of the machine; null: nobody. Asked behind begin().
  virtual StepListener* listener() { return nullptr; }
  // This CPU's program has come to its end.
  virtual void program_ended(const Cpu&) {}
  // Of all CPUs, before, in and after the measured time.
  virtual void miss(const Miss& miss) = 0;
  // The simulation is over; what begin() was given is there until this returns.
  virtual void end(const PointData& point) = 0;
};

// How long a run warms up: counters are tried before the time that the experiment states.
double warmup_us(const SimulationInput& input);

// Once in a process: SystemC builds one simulation. `progress`, if set, is called now and then with the share done, 0 to 1;
// it must not throw. Errors: SimulationFailure; ConfigError for a machine or workload that cannot be built.
// TraceError for a trace that cannot be replayed.
PointData simulate(const SimulationInput& input, const std::function<void(double)>& progress = {});
// The same, with somebody who listens.
PointData simulate_with(SimulationTap& tap, const SimulationInput& input, const std::function<void(double)>& progress);

}  // namespace linebounce::sim
