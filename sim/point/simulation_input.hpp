// Everything that determines one simulated run, typed and checked. sim/config makes it; sim/simulation runs it.
#pragma once

#include <cstdint>
#include <functional>
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
  bool counters = false;

  void bind(SpecBinder& keys) {
    keys.number("warmup_us", "us", warmup_us, 0, kMostUs, "statistics start after this");
    keys.number("measure_us", "us", measure_us, 0, kMostUs, "length of the measurement; 0: until every program has ended");
    keys.flag("record_timeline", record_timeline,
              "what every CPU, lock, bus and link did when, in timeline.csv; of the first seed");
    keys.number("timeline_us", "us", timeline_us, 0.001, kMostUs,
                "length of the timeline, from the start of the measured time");
    keys.flag("counters", counters,
              "each cache's misses, transactions and the like, in the words of a course, as metrics; for machines of one bus");
  }
};

struct SimulationInput {
  MachineSpec machine;
  MachineProtocols protocols{Protocol{}};  // the loaded protocols of the machine
  std::map<std::string, Home> placement;   // objects' homes, by name
  std::string workload;                    // a name in all_workloads()
  Parameters parameters;                   // complete: defaults filled in
  LayoutSet layouts;                       // layouts from the workload's layout file; empty without one
  std::string trace;                       // path of the trace to replay; empty: none
  SourceFile program;                      // the program that the workload runs; its path is empty if there is none
  std::vector<SourceFile> lock_files;      // locks that parameters name by their file
  std::vector<SourceFile> counter_files;   // counters that parameters name by their file
  bool as_recorded = false;                // true if the trace is replayed with the recorded run's configuration
  RunSpec run;
  EngineSpec engine;
  std::vector<MeasuredTable> tables;  // measured tables to compare with the simulated lines
  // For messages: where the setting of a path was written, and its key ("FILE:LINE:COLUMN: workload.lock", "--lock"); the
  // path alone if it is not a setting.
  std::function<std::string(const std::string& path)> located = [](const std::string& path) { return path; };
  std::uint64_t seed = 1;
};

}  // namespace linebounce::sim
