// The interface of a workload. A workload lays out its memory, runs one program on every CPU, and reports its own metrics.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "models/core/cpu.hpp"
#include "models/machine_layout.hpp"
#include "models/machine_spec.hpp"
#include "workloads/program/address_space.hpp"
#include "workloads/program/layout_set.hpp"
#include "workloads/program/metric_sink.hpp"
#include "workloads/program/source_file.hpp"

namespace linebounce::trace {
class Reader;
}

namespace linebounce::workloads {

struct CounterEntry;
class LockSet;

// Everything that a workload's set_up() may use.
struct WorkloadSetup {
  AddressSpace& memory;
  LockSet& locks;
  const MachineSpec& machine;
  const MachineLayout& layout;  // which core and node each CPU is in
  std::uint64_t seed;
  const LayoutSet* layouts = nullptr;           // the file in the parameter `layout`; null if there is none
  const trace::Reader* trace = nullptr;         // the file in the parameter `trace`; null if there is none
  const SourceFile* program = nullptr;          // the file in the parameter `program`; null if there is none
  std::span<const CounterEntry> counters = {};  // counters from files, in addition to all_counters()
};

// What report() needs to know about a finished run.
struct RunFacts {
  double measured_ns = 0;
  const std::function<const Cpu&(int)>& cpu;  // returns the CPU with this number
  int cpus = 0;                               // number of CPUs; 0 if there was no run

  [[nodiscard]] double to_ns(Tick ticks) const { return cpus == 0 ? 0 : cpu(0).to_ns(ticks); }
};

class Workload {
 public:
  virtual ~Workload() = default;
  // Places the workload's objects and names its functions. The caller calls it at most once, before the simulation. Errors:
  // std::invalid_argument, with a text for the user.
  virtual void set_up(const WorkloadSetup& setting) = 0;
  // Runs the program of one CPU. When the measured time is over, an exception unwinds it.
  virtual void run(Cpu& cpu) = 0;
  // True if all programs end by themselves. Otherwise the run needs a measured time.
  [[nodiscard]] virtual bool ends() const { return false; }
  // Reports the metrics after a run. The catalogue of metrics also calls it without a run, on a workload that was never set up
  // and with `facts.cpus` 0, to learn the declarations.
  virtual void report(const RunFacts& facts, MetricSink& metrics) const = 0;
  // Returns the source line that the CPU's program is executing, for the command `steps`; 0 if there is no source file.
  // REQUIRES: called from inside an operation of this CPU's program.
  [[nodiscard]] virtual int source_line(CpuId) const { return 0; }
};

}  // namespace linebounce::workloads
