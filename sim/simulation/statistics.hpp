// Listens to the hardware and keeps what latency.csv, lines.csv and the metrics need: integer histograms and counts.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "models/machine/machine.hpp"
#include "models/observer.hpp"
#include "sim/lines/table_metrics.hpp"
#include "sim/point/point_data.hpp"
#include "sim/simulation/latency_metrics.hpp"
#include "sim/simulation/miss_table.hpp"
#include "workloads/program/address_space.hpp"

namespace linebounce::sim {

using namespace workloads;

// Counts of a latency in cycles. Small ones in an array, the rest in a map.
class LatencyHistogram {
 public:
  void add(std::int64_t cycles, std::int64_t count = 1);
  // All bins that are not empty, by latency.
  [[nodiscard]] Histogram bins() const;

 private:
  static constexpr std::int64_t kDense = 4096;
  std::vector<std::int64_t> dense_ = std::vector<std::int64_t>(kDense, 0);
  std::map<std::int64_t, std::int64_t> sparse_;
};

class Statistics final : public Observer {
 public:
  // REQUIRES: `memory` knows all functions and objects before the first miss.
  Statistics(Machine& machine, const AddressSpace& memory);

  void miss(const Miss& miss) override;

  // Everything but the workload's own metrics. REQUIRES: the machine has run.
  void collect(Machine& machine, PointData& point) const;

  // The kernel's miss latency in the measured time, ns: of all misses that somebody supplied and of upgrades, by subsystem ("":
  // of no structure that belongs to one).
  [[nodiscard]] std::map<std::string, double> kernel_latency_ns() const;

  // The rows of lines.csv, not sorted, each with its line in memory. What no object holds has no line, and is none of them.
  [[nodiscard]] std::vector<PlacedRow> placed_rows(const std::vector<PlacedTable>& tables) const;

 private:
  void collect_latency(Machine& machine, PointData& point) const;
  [[nodiscard]] LineRow line_row(const MissTable::Entry& entry) const;
  void collect_lines(PointData& point) const;
  void collect_time(Machine& machine, PointData& point) const;
  void collect_profile(Machine& machine, Tick kernel, PointData& point) const;
  void collect_footprint(Machine& machine, PointData& point) const;
  void collect_traffic(const Machine& machine, PointData& point) const;
  void collect_halves(PointData& point) const;
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
  std::array<OfSources, 2> reads_, stores_;  // [mode][source]; atomic operations read
  MissTable table_;
  std::array<std::int64_t, 2> halves_{};  // misses before and after middle_
};

}  // namespace linebounce::sim
