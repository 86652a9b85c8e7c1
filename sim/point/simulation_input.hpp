// Everything that decides what one simulated run does, typed and checked: what sim/config makes and sim/simulation runs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "models/machine/machine_protocols.hpp"
#include "models/machine_spec.hpp"
#include "models/memory/homes.hpp"
#include "sim/point/measured_table.hpp"
#include "workloads/program/layout_set.hpp"
#include "workloads/program/parameters.hpp"
#include "workloads/program/source_file.hpp"

namespace linebounce::sim {

using namespace workloads;

struct RunSpec {
  double warmup_us = 0;
  double measure_us = 0;
  bool record_timeline = false;
  double timeline_us = 1000;

  void bind(SpecBinder& keys) {
    keys.number("warmup_us", "us", warmup_us, 0, kMostUs, "statistics start after this");
    keys.number("measure_us", "us", measure_us, 0, kMostUs, "length of the measurement; 0: until every program has ended");
    keys.flag("record_timeline", record_timeline,
              "what every CPU, lock, bus and link did when, in timeline.csv; of the first seed");
    keys.number("timeline_us", "us", timeline_us, 0.001, kMostUs,
                "length of the timeline, from the start of the measured time");
  }
};

struct SimulationInput {
  MachineSpec machine;
  MachineProtocols protocols{Protocol{}};  // those that the machine names, loaded
  std::map<std::string, Home> placement;   // of objects, by name
  std::string workload;                    // a name of all_workloads()
  Parameters parameters;                   // complete: defaults filled in
  LayoutSet layouts;                       // of the file that the workload names, if it names one
  std::string trace;                       // the file that the workload replays; empty: it replays none
  SourceFile program;                      // that the workload runs; without a path: it runs none
  std::vector<SourceFile> lock_files;      // locks that parameters name by their file
  std::vector<SourceFile> counter_files;   // counters, likewise
  bool as_recorded = false;                // the trace, under the conditions of the run that was recorded
  RunSpec run;
  EngineSpec engine;
  std::vector<MeasuredTable> tables;          // what lines are held against
  std::map<std::string, std::string> places;  // of settings by path, for messages: "FILE:LINE:COLUMN", "--set"
  std::uint64_t seed = 1;
};

}  // namespace linebounce::sim
