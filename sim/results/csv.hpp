// The CSV files of a results directory, columns as in docs/results.md.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/point/point_data.hpp"

namespace linebounce::sim {

struct CsvFile {
  std::string name;     // "latency.csv"
  std::string content;  // including its header
};

// The CSV files of point number `point`. matrix.csv and series.csv are included only if the run filled them.
std::vector<CsvFile> csv_files(int point, const PointData& data);

// seeds.csv: metrics of each run of a point with several seeds, before merge_seeds() averages them. Runs have consecutive
// seeds, from `first_seed`.
CsvFile seeds_csv(int point, std::uint64_t first_seed, const std::vector<PointData>& runs);

// Spans of one run in time (docs/results.md). Written as recorded, never merged.
constexpr const char* kTimelineFile = "timeline.csv";

// The names of all files that csv_files() and seeds_csv() may return.
const std::vector<std::string>& csv_names();

// Joins files of several points: the first file's header, then all rows.
std::string concatenate_csv(const std::vector<std::string>& contents);

// Reads latency.csv, by point. Rows are sorted by kind, source and latency. Errors: InputError.
std::map<int, std::vector<LatencyRow>> read_latency_csv(const std::string& content);

// Reads lines.csv, by point; a point without misses has no entry. Errors: InputError.
std::map<int, std::vector<LineRow>> read_lines_csv(const std::string& content);

// Reads matrix.csv, by point. Errors: InputError.
std::map<int, std::vector<MatrixRow>> read_matrix_csv(const std::string& content);
std::map<int, std::vector<SeriesRow>> read_series_csv(const std::string& content);

// Reads locks.csv, by point. Errors: InputError.
std::map<int, std::vector<LockRow>> read_locks_csv(const std::string& content);

// Reads cpi.csv, by point. Errors: InputError.
std::map<int, std::vector<CpiRow>> read_cpi_csv(const std::string& content);

// Reads seeds.csv, by point: each metric's values by seed. Errors: InputError.
using SeedValues = std::map<std::string, std::map<std::uint64_t, double>>;
std::map<int, SeedValues> read_seeds_csv(const std::string& content);

// A name as a CSV field, quoted if needed (RFC 4180), with control characters escaped as in visible_name(). A name that begins
// with = + - or @ gets an apostrophe in front, because a spreadsheet would take it for a formula. So does a name that begins
// with apostrophes followed by one of these characters. The readers here and analysis/linebounce/frames.py remove one
// apostrophe.
std::string csv_field(std::string_view name);

}  // namespace linebounce::sim
