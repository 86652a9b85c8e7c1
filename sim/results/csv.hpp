// The CSV files of a results directory, as DESIGN's table names their columns.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/results/point_data.hpp"

namespace linebounce {

struct CsvFile {
  std::string name;     // "latency.csv"
  std::string content;  // with its header
};

// The files of point number `point`; matrix.csv only if the run measured one.
std::vector<CsvFile> csv_files(int point, const PointData& data);

// The names of all files that csv_files() may return.
const std::vector<std::string>& csv_names();

// Files of several points as one: the first's header, then every row.
std::string concatenate_csv(const std::vector<std::string>& contents);

// latency.csv again, all its points added up; sorted by kind, source, latency. Errors: InputError.
std::vector<LatencyRow> read_latency_csv(const std::string& content);

// matrix.csv again, by point. Errors: InputError.
std::map<int, std::vector<MatrixRow>> read_matrix_csv(const std::string& content);

// A field, in quotes if it needs them (RFC 4180).
std::string csv_field(std::string_view text);

}  // namespace linebounce
