// Compares measured tables with simulated lines, as metrics of a point.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/point/measured_table.hpp"
#include "sim/point/point_data.hpp"
#include "workloads/program/metric_sink.hpp"

namespace linebounce::sim {

using LineNumber = std::uint64_t;  // of a coherence line in memory

// A row of lines.csv with its line in memory, which objects may share.
struct PlacedRow {
  LineNumber line = 0;
  LineRow row;
};

// A table, and the lines that contain its field in some object; empty if the run has no such object.
struct PlacedTable {
  const MeasuredTable* table = nullptr;
  std::vector<LineNumber> lines;
};

// The line with the most latency as sampled; among equals the first in memory. REQUIRES: at least one line.
LineNumber hottest_line(const std::vector<LineNumber>& lines, const std::vector<PlacedRow>& rows);

// Adds table.<id>.* for each table that has a line, and tables.* for those together (docs/results.md). Adds nothing if there
// are no tables.
void add_table_metrics(const std::vector<PlacedTable>& tables, const std::vector<PlacedRow>& rows, PointData& point);
void declare_table_metrics(workloads::MetricSink& metrics);

}  // namespace linebounce::sim
