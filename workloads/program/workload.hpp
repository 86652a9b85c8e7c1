// The interface of a workload: it lays out its memory, runs one program on every CPU, and reports its own metrics.
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
  const MachineLayout& layout;  // the places of CPUs
  std::uint64_t seed;
  const LayoutSet* layouts = nullptr;           // from the file in the parameter `layout`, if there is one
  const trace::Reader* trace = nullptr;         // the parameter `trace`, likewise
  const SourceFile* program = nullptr;          // the parameter `program`, likewise
  std::span<const CounterEntry> counters = {};  // from files, in addition to all_counters()
};

// Facts about a finished run, for metrics.
struct RunFacts {
  double measured_ns = 0;
  const std::function<const Cpu&(int)>& cpu;  // by number
  int cpus = 0;                               // 0: there was no run

  [[nodiscard]] double to_ns(Tick ticks) const { return cpus == 0 ? 0 : cpu(0).to_ns(ticks); }
};

class Workload {
 public:
  virtual ~Workload() = default;
  // Places objects and names functions. Called once, before the simulation. Errors: std::invalid_argument, with text for a
  // user.
  virtual void set_up(const WorkloadSetup& setting) = 0;
  // The program of one CPU. It is unwound when the measured time is over.
  virtual void run(Cpu& cpu) = 0;
  // Whether all programs end by themselves. Other workloads need a measured time.
  [[nodiscard]] virtual bool ends() const { return false; }
  // Reports the metrics. Called after the run, and also without one on a workload that was never set up, with no CPUs: that is
  // how the catalogue learns the declarations.
  virtual void report(const RunFacts& facts, MetricSink& metrics) const = 0;
  // The line of the source file that this CPU's program is executing, for `steps`; 0 without a file. REQUIRES: called from
  // inside an operation of the CPU's own program.
  [[nodiscard]] virtual int source_line(CpuId) const { return 0; }
};

}  // namespace linebounce::workloads
