// Listens to the hardware and keeps what latency.csv, lines.csv and the metrics need: integer histograms and counts.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "models/machine.hpp"
#include "models/observer.hpp"
#include "sim/results/point_data.hpp"
#include "workloads/program/address_space.hpp"

namespace linebounce {

// Counts of a latency in cycles. Small ones in an array, the rest in a map.
class LatencyHistogram {
 public:
  void add(std::int64_t cycles, std::int64_t count = 1);
  // All bins that are not empty, by latency.
  [[nodiscard]] std::map<std::int64_t, std::int64_t> bins() const;

 private:
  static constexpr std::int64_t kDense = 4096;
  std::vector<std::int64_t> dense_ = std::vector<std::int64_t>(kDense, 0);
  std::map<std::int64_t, std::int64_t> sparse_;
};

// Counts misses by what was missed, in which function, how, and from where it came. Open addressing; grows, never iterated but
// sorted.
class MissTable {
 public:
  struct Key {
    std::uint32_t object = 0;
    std::uint32_t offset = 0;
    FunctionId function = 0;
    AccessKind access{};
    Source source{};
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  struct Entry {
    Key key;
    std::int64_t count = 0;
    Tick latency = 0;
  };
  MissTable() : entries_(256) {}
  void add(const Key& key, Tick latency);
  [[nodiscard]] std::vector<Entry> sorted() const;

 private:
  Entry& find(std::vector<Entry>& entries, const Key& key) const;

  std::vector<Entry> entries_;  // count 0: free
  std::size_t used_ = 0;
};

class Statistics final : public Observer {
 public:
  // REQUIRES: `memory` knows all functions and objects before the first miss.
  Statistics(const Timebase& timebase, const CoreSpec& core, const AddressSpace& memory);

  void miss(const Miss& miss) override;

  // Everything but the workload's own metrics. REQUIRES: the machine has run.
  void collect(Machine& machine, PointData& point) const;

 private:
  void collect_latency(Machine& machine, PointData& point) const;
  void collect_lines(PointData& point) const;
  void collect_time(Machine& machine, PointData& point) const;
  static void collect_traffic(const Machine& machine, PointData& point);
  static void collect_transitions(const Machine& machine, PointData& point);
  void latency_metrics(const std::string& source, const std::map<std::int64_t, std::int64_t>& bins, PointData& point) const;

  const Timebase& timebase_;
  const CoreSpec& core_;
  const AddressSpace& memory_;
  std::array<std::array<LatencyHistogram, kSources>, 2> histograms_;  // [mode][source]
  MissTable table_;
};

}  // namespace linebounce
