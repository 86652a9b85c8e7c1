#include "sim/lines/table_metrics.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "sim/lines/line_rows.hpp"
#include "sim/lines/rank_correlation.hpp"
#include "workloads/program/address_space.hpp"

namespace linebounce::sim {

using namespace workloads;

namespace {

constexpr double kNear = 10;  // points of a percentage, as OLS 2007's rows are counted

bool matches(const LineRow& row, const MeasuredRow& measured) {
  return row.function == measured.function && row.field == measured.field && row.access == measured.access &&
         is_part_of(row.structure, measured.structure);
}

// The samples of each row of a table, on one line.
std::vector<MissSum> simulated_rows(const MeasuredTable& table, const std::vector<LineRow>& line) {
  std::vector<MissSum> sums;
  for (const MeasuredRow& measured : table.rows) {
    MissSum& sum = sums.emplace_back();
    for (const LineRow& row : line) {
      if (matches(row, measured)) sum.add(row);
    }
  }
  return sums;
}

std::optional<double> correlation(const MeasuredTable& table, const std::vector<MissSum>& simulated) {
  std::vector<double> x;
  std::vector<double> y;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    if (table.rows[i].samples < kLeastRankedSamples) continue;
    x.push_back(static_cast<double>(table.rows[i].samples));
    y.push_back(static_cast<double>(simulated[i].count));
  }
  return rank_correlation(x, y);
}

// What all tables together come to.
struct Score {
  std::int64_t rows = 0, near = 0;
  std::vector<double> correlations;
};

void add_table(const MeasuredTable& table, const std::vector<LineRow>& line, PointData& point, Score& score) {
  const std::vector<MissSum> simulated = simulated_rows(table, line);
  MissSum all;
  for (const LineRow& row : line) all.add(row);
  point.add_metric(table.metric() + ".samples", all.count);
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const MeasuredRow& measured = table.rows[i];
    const MissSum& sum = simulated[i];
    const std::string name = table.metric() + "." + measured.key;
    point.add_metric(name + ".samples", sum.count);
    if (sum.count > 0) point.add_metric(name + ".remote_pct", sum.remote_pct());
    if (!table.is_scored(measured)) continue;
    ++score.rows;
    if (sum.count > 0 && std::abs(sum.remote_pct() - measured.remote_pct) <= kNear) ++score.near;
  }
  if (const auto value = correlation(table, simulated)) {
    point.add_metric(table.metric() + ".rank_correlation", *value);
    score.correlations.push_back(*value);
  }
}

}  // namespace

LineNumber hottest_line(const std::vector<LineNumber>& lines, const std::vector<PlacedRow>& rows) {
  std::map<LineNumber, double> latency;
  for (const LineNumber line : lines) latency[line] = 0;
  for (const PlacedRow& placed : rows) {
    const auto candidate = latency.find(placed.line);
    if (candidate == latency.end() || !is_sampled(placed.row)) continue;
    candidate->second += static_cast<double>(placed.row.count) * placed.row.latency_ns_mean;
  }
  return std::ranges::max_element(latency, [](const auto& a, const auto& b) { return a.second < b.second; })->first;
}

void add_table_metrics(const std::vector<PlacedTable>& tables, const std::vector<PlacedRow>& rows, PointData& point) {
  if (tables.empty()) return;
  Score score;
  for (const PlacedTable& placed : tables) {
    if (placed.lines.empty()) continue;
    const LineNumber hottest = hottest_line(placed.lines, rows);
    std::vector<LineRow> line;
    for (const PlacedRow& row : rows) {
      if (row.line == hottest && is_sampled(row.row)) line.push_back(row.row);
    }
    add_table(*placed.table, line, point, score);
  }
  point.add_metric("tables.rows", score.rows);
  point.add_metric("tables.rows_within_10_points", score.near);
  if (!score.correlations.empty()) point.add_metric("tables.rank_correlation_median", median(score.correlations));
}

}  // namespace linebounce::sim
