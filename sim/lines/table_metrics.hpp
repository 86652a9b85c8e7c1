// Measured tables held against simulated lines, as metrics of a point.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/point/measured_table.hpp"
#include "sim/point/point_data.hpp"
#include "workloads/program/metric_sink.hpp"

namespace linebounce::sim {

using LineNumber = std::uint64_t;  // of a coherence line in memory

// A row of lines.csv with the line that it lies on in memory: there objects can share one.
struct PlacedRow {
  LineNumber line = 0;
  LineRow row;
};

// A table, and the lines on which its field lies in one object or another: none, if the run has no such object.
struct PlacedTable {
  const MeasuredTable* table = nullptr;
  std::vector<LineNumber> lines;
};

// Of these lines the one with the most latency as sampled; of equals the first in memory. REQUIRES: at least one line.
LineNumber hottest_line(const std::vector<LineNumber>& lines, const std::vector<PlacedRow>& rows);

// table.<id>.* of each table that has a line, and tables.* of those together (docs/results.md). Nothing where there are no
// tables.
void add_table_metrics(const std::vector<PlacedTable>& tables, const std::vector<PlacedRow>& rows, PointData& point);
void declare_table_metrics(workloads::MetricSink& metrics);

}  // namespace linebounce::sim
