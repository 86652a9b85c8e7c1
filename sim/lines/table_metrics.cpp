#include "sim/lines/table_metrics.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>

#include "sim/lines/line_rows.hpp"
#include "sim/lines/rank_correlation.hpp"
#include "sim/point/point_metrics.hpp"
#include "workloads/program/address_space.hpp"

namespace linebounce::sim {

using namespace workloads;

namespace {

constexpr double kNear = 10;  // percentage points, by which OLS 2007 counts rows

bool matches(const LineRow& row, const MeasuredRow& measured) {
  return row.function == measured.function && row.field == measured.field && row.access == measured.access &&
         is_part_of(row.structure, measured.structure);
}

// For each row of a table, the simulated samples on one line that match it.
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

double mean_distance(const std::vector<double>& distances) {
  return std::accumulate(distances.begin(), distances.end(), 0.0) / static_cast<double>(distances.size());
}

// A trivial prediction: the same share for all rows, chosen to fit the measured shares best. Returns its distances from them.
std::vector<double> errors_of_guess(const std::vector<double>& measured) {
  std::vector<double> least;
  for (const double guess : kTrivialShares) {
    std::vector<double> errors;
    for (const double share : measured) errors.push_back(std::abs(share - guess));
    if (least.empty() || mean_distance(errors) < mean_distance(least)) least = errors;
  }
  return least;
}

// Scores over all tables.
struct Score {
  std::int64_t rows = 0, near = 0, better_tables = 0;
  std::vector<double> correlations, errors, guess_errors;

  // Adds a table. `measured`: the shares of its scored rows that have simulated samples. `own`: the simulated shares' distances
  // from them.
  void add_shares(const std::vector<double>& measured, const std::vector<double>& own) {
    if (measured.empty()) return;
    const std::vector<double> guessed = errors_of_guess(measured);
    if (mean_distance(own) < mean_distance(guessed)) ++better_tables;
    errors.insert(errors.end(), own.begin(), own.end());
    guess_errors.insert(guess_errors.end(), guessed.begin(), guessed.end());
  }

  void report(MetricSink& metrics) const {
    metrics.count("tables.rows", "", kNeither, "over all tables: rows that are scored", rows);
    metrics.count(
        "tables.rows_within_10_points", "", kHigher,
        "over all tables: of the rows that are scored those whose remote share is within 10 points of the measured one", near);
    const auto mean_of = [](const std::vector<double>& all) {
      return all.empty() ? std::nullopt : std::optional(mean_distance(all));
    };
    metrics.value("tables.remote_error_points", "", kLower,
                  "over all tables: mean distance of simulated from measured remote shares, of scored rows with samples",
                  mean_of(errors));
    metrics.value("tables.guess_error_points", "", kNeither,
                  "the same of a guess: for each table the one of 0, 33.3, 50, 66.7 and 100 % that is nearest to all its rows",
                  mean_of(guess_errors));
    metrics.count("tables.better_than_guess", "", kHigher,
                  "over all tables: those whose mean distance is smaller than the guess's", better_tables);
    metrics.value("tables.rank_correlation_median", "", kHigher, "over all tables: median of the coefficients",
                  correlations.empty() ? std::nullopt : std::optional(median(correlations)));
  }
};

struct TableFamilies {
  explicit TableFamilies(MetricSink& metrics)
      : samples(metrics.family("table.<id...>.samples", "", kNeither,
                               "of a measured table (`[[table]]`, `configs/experiments/README.md`): samples on the simulated "
                               "line, those of no row of the table too. `table.<id>.<row>.samples`: of that row; "
                               "`configs/figures/README.md` says how rows are called")),
        remote_pct(metrics.family("table.<id...>.remote_pct", "%", kNeither,
                                  "`table.<id>.<row>.remote_pct`: how many of the row's samples are from another node than the "
                                  "line's home; without samples there is none")),
        rank_correlation(metrics.family("table.<id...>.rank_correlation", "", kHigher,
                                        "Spearman's coefficient of measured and simulated samples, over the rows with at least "
                                        "10 measured samples; equal numbers share a rank, a row without simulated samples has "
                                        "0, and if all have the same number the coefficient is 0")) {}
  MetricFamily samples, remote_pct, rank_correlation;
};

void add_table(const MeasuredTable& table, const std::vector<LineRow>& line, const TableFamilies& families, Score& score) {
  const std::vector<MissSum> simulated = simulated_rows(table, line);
  MissSum all;
  for (const LineRow& row : line) all.add(row);
  families.samples.add({table.id}, all.count);
  std::vector<double> shares;
  std::vector<double> errors;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const MeasuredRow& measured = table.rows[i];
    const MissSum& sum = simulated[i];
    const std::string row = table.id + "." + measured.key;
    families.samples.add({row}, sum.count);
    if (sum.count > 0) families.remote_pct.add({row}, sum.remote_pct());
    if (!table.is_scored(measured)) continue;
    ++score.rows;
    if (sum.count == 0) continue;
    shares.push_back(measured.remote_pct);
    errors.push_back(std::abs(sum.remote_pct() - measured.remote_pct));
    if (errors.back() <= kNear) ++score.near;
  }
  score.add_shares(shares, errors);
  if (const auto value = correlation(table, simulated)) {
    families.rank_correlation.add({table.id}, *value);
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
  PointMetrics metrics(point);
  const TableFamilies families(metrics);
  for (const PlacedTable& placed : tables) {
    if (placed.lines.empty()) continue;
    const LineNumber hottest = hottest_line(placed.lines, rows);
    std::vector<LineRow> line;
    for (const PlacedRow& row : rows) {
      if (row.line == hottest && is_sampled(row.row)) line.push_back(row.row);
    }
    add_table(*placed.table, line, families, score);
  }
  score.report(metrics);
}

void declare_table_metrics(MetricSink& metrics) {
  const TableFamilies families(metrics);
  Score().report(metrics);
}

}  // namespace linebounce::sim
