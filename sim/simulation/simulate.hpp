// One run of one point: builds the machine, runs the workload, collects what the results files hold.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "models/core/program_tap.hpp"
#include "models/machine_protocols.hpp"
#include "models/machine_spec.hpp"
#include "models/memory/homes.hpp"
#include "models/observer.hpp"
#include "models/timebase.hpp"
#include "sim/lines/measured_table.hpp"
#include "sim/results/point_data.hpp"
#include "workloads/program/layout_set.hpp"
#include "workloads/program/parameters.hpp"

namespace linebounce {

class LockSet;

struct RunSpec {
  double warmup_us = 0;   // statistics start after this
  double measure_us = 0;  // 0: until every program has ended
  bool record_timeline = false;
  double timeline_us = 1000;  // from the begin of the measured time: how much of it
};

struct SimulationInput {
  MachineSpec machine;
  MachineProtocols protocols{Protocol{}};  // those that the machine names, loaded
  std::map<std::string, Home> placement;   // of objects, by name
  std::string workload;                    // a name of workloads()
  Parameters parameters;                   // complete: defaults filled in
  LayoutSet layouts;                       // of the file that the workload names, if it names one
  std::string trace;                       // the file that the workload replays; empty: it replays none
  bool as_recorded = false;                // the trace, under the conditions of the run that was recorded
  RunSpec run;
  EngineSpec engine;
  std::vector<MeasuredTable> tables;          // what lines are held against
  std::map<std::string, std::string> places;  // of settings by path, for messages: "FILE:LINE:COLUMN", "--set"
  std::uint64_t seed = 1;
};

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
  // The workload is set up. The tap of all CPUs, which lives until this does.
  virtual ProgramTap& begin(const AddressSpace& memory, const LockSet& locks, const Timebase& timebase, int cpus) = 0;
  // Of all CPUs, before, in and after the measured time.
  virtual void miss(const Miss& miss) = 0;
  // The simulation is over; what begin() was given is there until this returns.
  virtual void end(const PointData& point) = 0;
};

// Once in a process: SystemC builds one simulation. `progress`, if set, is called now and then with the share done, 0 to 1;
// it must not throw. Errors: SimulationFailure; ConfigError for a machine or workload that cannot be built.
// TraceError for a trace that cannot be replayed.
PointData simulate(const SimulationInput& input, const std::function<void(double)>& progress = {});
// The same, with somebody who listens.
PointData simulate_with(SimulationTap& tap, const SimulationInput& input, const std::function<void(double)>& progress);

}  // namespace linebounce
