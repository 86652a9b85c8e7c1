// Listens to the hardware, and collects histograms and counts for latency.csv, lines.csv and the metrics. All are integers.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "models/machine/machine.hpp"
#include "models/observer.hpp"
#include "sim/lines/table_metrics.hpp"
#include "sim/point/point_data.hpp"
#include "sim/statistics/latency_metrics.hpp"
#include "sim/statistics/lock_rows.hpp"
#include "sim/statistics/miss_table.hpp"
#include "workloads/program/address_space.hpp"

namespace linebounce::sim {

using namespace workloads;

// Counts latencies in cycles. Small latencies index an array; large ones are in a map.
class LatencyHistogram {
 public:
  void add(std::int64_t cycles, std::int64_t count = 1);
  // All non-empty bins, by latency.
  [[nodiscard]] Histogram bins() const;

 private:
  static constexpr std::int64_t kMostDense = 4096;
  void add_beyond(std::int64_t cycles, std::int64_t count);

  std::vector<std::int64_t> dense_;  // as long as the latencies that occur require, up to kMostDense
  std::map<std::int64_t, std::int64_t> sparse_;
};

class Statistics final : public Observer {
 public:
  // REQUIRES: all functions and objects are in `memory` before the first miss.
  Statistics(Machine& machine, const AddressSpace& memory);

  void miss(const Miss& miss) override;

  // Adds everything to `point` except the workload's own metrics. REQUIRES: the machine has run.
  void collect(Machine& machine, PointData& point) const;

  // Declares all metrics that collect(), add_latency_per_operation() and add_replay_differences() may add.
  static void declare(MetricSink& metrics);

  // Adds the kernel's miss latency per operation, if the workload counts operations and the kernel has misses. REQUIRES: the
  // workload has reported.
  void add_latency_per_operation(double measured_ns, PointData& point) const;
  // For a replay: adds how its misses differ from the recorded run's. `recorded`: misses by source.
  static void add_replay_differences(const std::map<std::string, std::int64_t>& recorded, PointData& point);

  // Misses on locks' words and objects, by lock name as in the locks' figures.
  [[nodiscard]] std::map<std::string, LockMisses> lock_misses(const LockSet& locks) const;

  // Rows of lines.csv, unsorted, each with its line in memory. Omits addresses outside all objects, which belong to no row.
  [[nodiscard]] std::vector<PlacedRow> placed_rows(const std::vector<PlacedTable>& tables) const;

 private:
  // By subsystem ("": structures without one): latency of all misses that were supplied, and of upgrades.
  [[nodiscard]] std::map<std::string, double> kernel_latency_ns() const;
  void collect_latency(Machine& machine, PointData& point, MetricSink& metrics) const;
  [[nodiscard]] LineRow line_row(const MissTable::Entry& entry) const;
  [[nodiscard]] MeanWaits mean_waits(const Waits& waits, std::int64_t count) const;
  void collect_lines(PointData& point) const;
  void collect_queueing(MetricSink& metrics) const;
  void collect_time(Machine& machine, MetricSink& metrics) const;
  [[nodiscard]] std::map<std::string, Tick> kernel_times(Machine& machine) const;  // by function
  void collect_footprint(Machine& machine, MetricSink& metrics) const;
  void collect_traffic(const Machine& machine, MetricSink& metrics) const;
  void collect_halves(MetricSink& metrics) const;
  static void collect_transitions(const Machine& machine, PointData& point);
  std::int64_t add_hits(const ThreadCounters& counters, LatencyBins& bins) const;

  const Timebase& timebase_;
  const CoreSpec& core_;
  const LineStore& store_;
  const Homes& homes_;
  const MachineLayout& layout_;
  const AddressSpace& memory_;
  Tick middle_;  // of the measured time
  using OfSources = std::array<LatencyHistogram, kSources>;
  std::array<OfSources, 2> reads_, stores_;  // [mode][source]; atomic operations count as reads
  MissTable table_;
  std::array<std::int64_t, 2> halves_{};  // number of misses before and after middle_
};

}  // namespace linebounce::sim
