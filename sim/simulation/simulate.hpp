// One run of one point: builds the machine, runs the workload, collects the content of the results files.
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

// The simulation stopped at a deadlock, livelock, stale value or impossible transition: exit code 4. what() holds the whole
// report (what happened, the line's history, every pending transaction, the seed).
class SimulationFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Observes the operations of every CPU, from before the programs begin until after they have ended.
class SimulationTap {
 public:
  virtual ~SimulationTap() = default;
  // Called before begin(). The workload lives as long as begin()'s arguments.
  virtual void set_up(const workloads::Workload&) {}
  // Called when the machine is built and the workload set up. Returns the tap of all CPUs, which must outlive the simulation.
  virtual ProgramTap& begin(Machine& machine, const AddressSpace& memory, const LockSet& locks) = 0;
  // The listener to every step of the machine; null: none. Called after begin().
  virtual StepListener* listener() { return nullptr; }
  // Runs the machine until the run is over.
  virtual void drive(Machine& machine, const std::function<void(double)>& progress);
  // This CPU's program has ended.
  virtual void program_ended(const Cpu&) {}
  // A miss of any CPU, before, in or after the measured time.
  virtual void miss(const Miss& miss) = 0;
  // Adds the listener's own metrics to those of the run.
  virtual void report(const PointData&, MetricSink&) {}
  // The simulation is over; begin()'s arguments are valid until this returns.
  virtual void end(const PointData& point) = 0;
};

// The warm-up of a run in µs: what the experiment states, and for counters from files the time in which they are tried.
double warmup_us(const SimulationInput& input);

// `progress`, if set, is called from time to time with the share done, 0 to 1, and must not throw. Errors: SimulationFailure;
// ConfigError for a machine or workload that can't be built; TraceError for a trace that can't be replayed.
PointData simulate(const SimulationInput& input, const std::function<void(double)>& progress = {});
// The same with a listener.
PointData simulate_with(SimulationTap& tap, const SimulationInput& input, const std::function<void(double)>& progress);

}  // namespace linebounce::sim
