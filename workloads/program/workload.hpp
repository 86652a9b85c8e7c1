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

// The cost of moving a line from one CPU to another: one row of matrix.csv.
struct HandOff {
  int from_cpu = 0;
  int to_cpu = 0;
  int home_node = 0;
  std::string state;  // the line's state at from_cpu: "Modified", "Exclusive", "Shared"
  double latency_ns = 0;
};

// A sample of a quantity over time: one row of series.csv.
struct SeriesSample {
  double time_us = 0;  // since the simulation began
  double value = 0;
};

// Where a workload puts its metrics. Each has been declared, with its unit: sim/point/declared_metrics.cpp.
class MetricSink {
 public:
  virtual ~MetricSink() = default;
  virtual void metric(const std::string& name, double value) = 0;
  // Reports sum / samples, or nothing without samples, as in a run cut short.
  void mean(const std::string& name, double sum, std::int64_t samples) {
    if (samples > 0) metric(name, sum / static_cast<double>(samples));
  }
  virtual void count(const std::string& name, std::int64_t value) = 0;
  // REQUIRES: calls in the order of the file's rows.
  virtual void hand_off(const HandOff& cost) = 0;
  // The samples of a quantity in the order of time, warm-up included. Its name contains its unit: "rcu.grace_period_ms".
  virtual void series(const std::string& name, std::span<const SeriesSample> samples) = 0;
};

// Facts about a finished run, for metrics.
struct RunFacts {
  double measured_ns = 0;
  const std::function<const Cpu&(int)>& cpu;  // by number
  int cpus = 0;
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
  virtual void report(const RunFacts& facts, MetricSink& metrics) const = 0;
  // The line of the source file that this CPU's program is executing, for `steps`; 0 without a file. REQUIRES: called from
  // inside an operation of the CPU's own program.
  [[nodiscard]] virtual int source_line(CpuId) const { return 0; }
};

}  // namespace linebounce::workloads
