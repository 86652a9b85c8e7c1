// Compares measured tables with simulated lines, and reports the results as metrics of a point.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/point/measured_table.hpp"
#include "sim/point/point_data.hpp"
#include "workloads/program/metric_sink.hpp"

namespace linebounce::sim {

using LineNumber = std::uint64_t;  // number of a coherence line in memory

// A row of lines.csv and the line in memory that it belongs to. Several objects may share that line.
struct PlacedRow {
  LineNumber line = 0;
  LineRow row;
};

// A table and the lines that contain its field in some object. No lines if the run has no such object.
struct PlacedTable {
  const MeasuredTable* table = nullptr;
  std::vector<LineNumber> lines;
};

// The line with the largest latency of sampled misses; among equals the first in memory. REQUIRES: at least one line.
LineNumber hottest_line(const std::vector<LineNumber>& lines, const std::vector<PlacedRow>& rows);

// Adds the metrics table.<id>.* for each table that has a line, and tables.* for all of them (docs/results.md). Adds nothing if
// there are no tables.
void add_table_metrics(const std::vector<PlacedTable>& tables, const std::vector<PlacedRow>& rows, PointData& point);
void declare_table_metrics(workloads::MetricSink& metrics);

}  // namespace linebounce::sim
