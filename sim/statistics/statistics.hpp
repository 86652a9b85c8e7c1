// Listens to the hardware and collects integer histograms and counts for latency.csv, lines.csv and the metrics.
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

// Counts latencies in cycles: small ones in an array, the rest in a map.
class LatencyHistogram {
 public:
  void add(std::int64_t cycles, std::int64_t count = 1);
  // All non-empty bins, by latency.
  [[nodiscard]] Histogram bins() const;

 private:
  static constexpr std::int64_t kMostDense = 4096;
  void add_beyond(std::int64_t cycles, std::int64_t count);

  std::vector<std::int64_t> dense_;  // grows with the latencies that occur, up to kMostDense
  std::map<std::int64_t, std::int64_t> sparse_;
};

class Statistics final : public Observer {
 public:
  // REQUIRES: `memory` has all functions and objects before the first miss.
  Statistics(Machine& machine, const AddressSpace& memory);

  void miss(const Miss& miss) override;

  // Collects everything except the workload's own metrics. REQUIRES: the machine has run.
  void collect(Machine& machine, PointData& point) const;

  // Declares everything that collect(), add_latency_per_operation() and add_replay_differences() may add.
  static void declare(MetricSink& metrics);

  // Adds the cost per operation of the kernel's misses, if the workload counts operations and the kernel has misses.
  // REQUIRES: the workload has reported.
  void add_latency_per_operation(double measured_ns, PointData& point) const;
  // For a replay: by how much its misses differ from the recorded run's. `recorded`: misses by source.
  static void add_replay_differences(const std::map<std::string, std::int64_t>& recorded, PointData& point);

  // Misses on locks' words and objects, by the lock names that the figures use.
  [[nodiscard]] std::map<std::string, LockMisses> lock_misses(const LockSet& locks) const;

  // The rows of lines.csv, unsorted, each with its line in memory. Leaves out addresses outside all objects, which have no
  // line.
  [[nodiscard]] std::vector<PlacedRow> placed_rows(const std::vector<PlacedTable>& tables) const;

 private:
  // The latency of all misses with a supplier and of upgrades, by subsystem ("": structures without one).
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
  std::array<std::int64_t, 2> halves_{};  // misses before and after time middle_
};

}  // namespace linebounce::sim
