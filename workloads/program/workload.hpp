// What a workload is: it lays out its memory, runs one program on every CPU, and reports metrics of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <variant>

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

// What a workload is given before it runs.
struct WorkloadSetup {
  AddressSpace& memory;
  LockSet& locks;
  const MachineSpec& machine;
  const MachineLayout& layout;  // where the CPUs are
  std::uint64_t seed;
  const LayoutSet* layouts = nullptr;           // of the file that its parameter `layout` names, if it has one
  const trace::Reader* trace = nullptr;         // that its parameter `trace` names, if it has one
  const SourceFile* program = nullptr;          // that its parameter `program` names, if it has one
  std::span<const CounterEntry> counters = {};  // of files, beyond those of all_counters()
};

// What a line costs that one CPU hands over to another: one row of matrix.csv.
struct HandOff {
  int from_cpu = 0;
  int to_cpu = 0;
  int home_node = 0;
  std::string state;  // in which from_cpu left the line: "Modified", "Exclusive", "Shared"
  double latency_ns = 0;
};

// What a quantity was at a time, or since the sample before it: one row of series.csv.
struct SeriesSample {
  double time_us = 0;  // since the simulation began
  double value = 0;
};

// Where a workload puts its metrics. Each has been declared, with its unit: sim/point/declared_metrics.cpp.
class MetricSink {
 public:
  virtual ~MetricSink() = default;
  virtual void metric(const std::string& name, double value) = 0;
  // sum / samples; what was never sampled, in a run cut short, has no metric.
  void mean(const std::string& name, double sum, std::int64_t samples) {
    if (samples > 0) metric(name, sum / static_cast<double>(samples));
  }
  virtual void count(const std::string& name, std::int64_t value) = 0;
  // Rows in the order in which the file is to have them.
  virtual void hand_off(const HandOff& cost) = 0;
  // How a quantity went, warm-up included, in the order of time. Its name says its unit: "rcu.grace_period_ms".
  virtual void series(const std::string& name, std::span<const SeriesSample> samples) = 0;
};

// What is known of a run when it is over.
struct RunFacts {
  double measured_ns = 0;
  const std::function<const Cpu&(int)>& cpu;  // by number
  int cpus = 0;
};

class Workload {
 public:
  virtual ~Workload() = default;
  // Places objects, names functions. Called once, before the simulation. Errors: std::invalid_argument, with text for a user.
  virtual void set_up(const WorkloadSetup& setting) = 0;
  // The program of one CPU. It is left where it stands when the measured time is over.
  virtual void run(Cpu& cpu) = 0;
  // Whether its programs end by themselves; others need a measured time.
  [[nodiscard]] virtual bool ends() const { return false; }
  virtual void report(const RunFacts& facts, MetricSink& metrics) const = 0;
  // For who shows a run: the line of its file at which this CPU's program is; 0: it has none. REQUIRES: called by the CPU's own
  // program, out of what it asks of its Cpu.
  [[nodiscard]] virtual int source_line(CpuId) const { return 0; }
};

}  // namespace linebounce::workloads
