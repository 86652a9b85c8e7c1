// Simulates one run of one point: builds the machine, runs the workload, and collects what the results files will contain.
#pragma once

#include <functional>
#include <stdexcept>

#include "models/core/program_tap.hpp"
#include "models/observer.hpp"
#include "sim/point/point_data.hpp"
#include "sim/point/simulation_input.hpp"

namespace linebounce::workloads {
class AddressSpace;
class LockSet;
class MetricSink;
class Workload;
}  // namespace linebounce::workloads
namespace linebounce {
class Machine;
class StepListener;
}  // namespace linebounce

namespace linebounce::sim {

// The simulation stopped with an error in the model: deadlock, livelock, stale value or impossible transition. Exit code 4.
// what() is the whole report: what happened, the line's history, every pending transaction, the seed.
class SimulationFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Observes all CPUs' operations, from before the programs begin until after they have ended.
class SimulationTap {
 public:
  virtual ~SimulationTap() = default;
  // Called before begin(). The workload lives as long as the arguments of begin().
  virtual void set_up(const workloads::Workload&) {}
  // Called when the machine is built and the workload set up. Returns the tap for all CPUs, which must outlive the simulation.
  virtual ProgramTap& begin(Machine& machine, const AddressSpace& memory, const LockSet& locks) = 0;
  // A listener to every step of the machine; null: none. Called after begin().
  virtual StepListener* listener() { return nullptr; }
  // Runs the machine until the run is over.
  virtual void drive(Machine& machine, const std::function<void(double)>& progress);
  // Called when this CPU's program has ended.
  virtual void program_ended(const Cpu&) {}
  // Called for each miss of any CPU, also outside the measured time.
  virtual void miss(const Miss& miss) = 0;
  // Adds the listener's own metrics to those of the run.
  virtual void report(const PointData&, MetricSink&) {}
  // Called after the simulation. The arguments of begin() are valid until it returns.
  virtual void end(const PointData& point) = 0;
};

// A run's warm-up in µs: the experiment's; for counters from files, the time in which they are tried is included.
double warmup_us(const SimulationInput& input);

// Builds the machine and sets up its workload, but runs nothing. Errors: as simulate(), except SimulationFailure.
void check_set_up(const SimulationInput& input);

// `progress`, if set, is called with 0 when everything is set up, then now and then with the share done, 0 to 1; it must not
// throw. Errors: SimulationFailure; ConfigError for a machine or workload that can't be built; TraceError for a trace that
// can't be replayed.
PointData simulate(const SimulationInput& input, const std::function<void(double)>& progress = {});
// Like simulate(), with an observer.
PointData simulate_with(SimulationTap& tap, const SimulationInput& input, const std::function<void(double)>& progress);

}  // namespace linebounce::sim
