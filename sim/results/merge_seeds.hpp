// Merges runs of a point with different seeds. Metrics are averaged, with a confidence interval; histograms and tables are
// added up.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/point/point_data.hpp"
#include "sim/results/numbers.hpp"
#include "workloads/program/metric_sink.hpp"

namespace linebounce::sim {

struct ReportedMetric {
  Number value;
  std::string unit;
  std::optional<double> ci95;  // half the width of the mean's 95 % interval; needs two seeds or more
};

struct MergedPoint {
  std::map<std::string, ReportedMetric> metrics;
  PointData tables;  // without its metrics
};

// `runs`: one or more, in the order of their seeds. A single run is kept as it is, with its integers. Of several runs, a metric
// becomes its mean (a double) over the runs that have it.
MergedPoint merge_seeds(std::vector<PointData> runs);

// Declares the metrics that merge_seeds() adds if seeds fall into two groups.
void declare_modes(workloads::MetricSink& metrics);

// Adds the rows of one run to the sum of earlier ones. REQUIRES: both are sorted.
void add_line_rows(std::vector<LineRow>& sum, std::vector<LineRow> lines);

// The two-sided 95 % quantile of Student's t distribution. REQUIRES: degrees_of_freedom >= 1.
double student_t_95(std::size_t degrees_of_freedom);

}  // namespace linebounce::sim
