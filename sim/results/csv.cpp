#include "sim/results/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <tuple>

#include "models/text/csv_row.hpp"
#include "models/text/visible.hpp"
#include "sim/results/numbers.hpp"
#include "sim/results/result_files.hpp"
#include "sim/statistics/source_names.hpp"

namespace linebounce::sim {
namespace {

constexpr const char* kLatencyHeader = "point,kind,source,latency_cycles,latency_ns,count";
constexpr const char* kLinesColumns =
    "point,structure,object,line,offset,field,function,access,home,source,count,remote_pct,latency_ns_mean,cpus";
constexpr const char* kLocksColumns =
    "point,lock,call_site,util_pct,con_pct,hold_mean_us,hold_max_us,wait_mean_us,wait_max_us,cpu_pct,total,nowait,spin,rjct,"
    "misses,miss_mean_ns";
constexpr const char* kCpiColumns = "point,cpu,function,instructions,cycles";
constexpr std::size_t kBeforeCpiParts = 5;
constexpr const char* kMatrixHeader = "point,from_cpu,to_cpu,home_node,state,latency_ns";
constexpr const char* kSeriesHeader = "point,time_us,name,value";
constexpr const char* kSeedsHeader = "point,seed,metric,value,unit";

// Builds a row. Fields must be added in the order of the columns.
class Row {
 public:
  explicit Row(std::string& out) : out_(out) {}
  Row(const Row&) = delete;
  Row& operator=(const Row&) = delete;
  ~Row() { out_ += '\n'; }

  Row& operator<<(const std::string& text) { return field(csv_field(text)); }
  Row& operator<<(double value) { return field(significant(value)); }
  Row& operator<<(std::int64_t value) { return field(std::to_string(value)); }
  Row& operator<<(int value) { return field(std::to_string(value)); }

 private:
  Row& field(const std::string& text) {
    if (!first_) out_ += ',';
    first_ = false;
    out_ += text;
    return *this;
  }

  std::string& out_;
  bool first_ = true;
};

// Names of the columns that add_split() fills; each ends in `unit`.
std::string split_columns(std::string_view unit) {
  std::string columns = fmt::format(",travel_{0},queueing_{0}", unit);
  for (const char* resource : kResourceNames) columns += fmt::format(",queueing_{}_{}", resource, unit);
  return columns;
}

std::string lines_header() {
  return kLinesColumns + split_columns("ns_mean");
}

std::string locks_header() {
  return kLocksColumns + split_columns("mean_ns");
}

// Travel, queueing, and queueing at each resource.
constexpr std::size_t kSplitColumns = 2 + kResources;  // Travel, queueing, and queueing at each resource.

void add_split(Row& row, double latency_ns, const MeanWaits& waits) {
  row << std::max(0.0, latency_ns - waits.total()) << waits.total();
  for (const double ns : waits.ns) row << ns;
}

std::string latency_csv(int point, const std::vector<LatencyRow>& rows) {
  std::string out = std::string(kLatencyHeader) + "\n";
  for (const LatencyRow& row : rows)
    Row(out) << point << row.kind << row.source << row.latency_cycles << row.latency_ns << row.count;
  return out;
}

std::string lines_csv(int point, const std::vector<LineRow>& rows) {
  std::string out = lines_header() + "\n";
  for (const LineRow& row : rows) {
    Row fields(out);
    fields << point << row.structure << row.object << row.line << row.offset << row.field << row.function << row.access
           << row.home << row.source << row.count << row.remote_pct << row.latency_ns_mean << cpu_list(row.cpus);
    if (row.waits) {
      add_split(fields, row.latency_ns_mean, *row.waits);
    } else {
      for (std::size_t i = 0; i < kSplitColumns; ++i) fields << "";
    }
  }
  return out;
}

std::string locks_csv(int point, const std::vector<LockRow>& rows) {
  std::string out = locks_header() + "\n";
  for (const LockRow& row : rows) {
    Row fields(out);
    fields << point << row.lock << row.call_site << row.util_pct << row.con_pct << row.hold_mean_us << row.hold_max_us
           << row.wait_mean_us << row.wait_max_us << row.cpu_pct << row.total << row.nowait << row.spin << row.rjct;
    fields << row.misses << row.miss_ns_mean;
    add_split(fields, row.miss_ns_mean, row.waits);
  }
  return out;
}

std::string cpi_header() {
  std::string header = kCpiColumns;
  for (const char* part : kTimePartNames) header += std::string(",") + part;
  return header;
}

std::string cpi_csv(int point, const std::vector<CpiRow>& rows) {
  std::string out = cpi_header() + "\n";
  for (const CpiRow& row : rows) {
    Row line(out);
    line << point << row.cpu << row.function << row.instructions << row.cycles();
    for (const std::int64_t cycles : row.parts) line << cycles;
  }
  return out;
}

std::string matrix_csv(int point, const std::vector<MatrixRow>& rows) {
  std::string out = std::string(kMatrixHeader) + "\n";
  for (const MatrixRow& row : rows)
    Row(out) << point << row.from_cpu << row.to_cpu << row.home_node << row.state << row.latency_ns;
  return out;
}

std::string series_csv(int point, const std::vector<SeriesRow>& rows) {
  std::string out = std::string(kSeriesHeader) + "\n";
  for (const SeriesRow& row : rows) Row(out) << point << row.time_us << row.name << row.value;
  return out;
}

std::string transitions_csv(int point, const std::vector<TransitionRow>& rows) {
  std::string out = "point,controller,state,event,count\n";
  for (const TransitionRow& row : rows) Row(out) << point << row.controller << row.state << row.event << row.count;
  return out;
}

// True if a spreadsheet would evaluate the text as a formula. Ignores leading apostrophes.
bool is_formula(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of('\''), text.size()));
  return !text.empty() && std::string_view("=+-@").find(text.front()) != std::string_view::npos;
}

template <class Value>
Value parse_number(const std::string& file, const std::string& text) {
  Value value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) throw InputError(file + ": \"" + text + "\" is not a number");
  return value;
}

CpuSet read_cpus(const std::string& file, const std::string& text) {
  const std::optional<CpuSet> cpus = read_cpu_list(text);
  if (!cpus) throw InputError(file + ": \"" + text + "\" is not a list of CPUs");
  return *cpus;
}

// Reads a latency's parts from the last columns. REQUIRES: these columns are not empty.
MeanWaits read_waits(const std::string& file, const std::vector<std::string>& fields) {
  MeanWaits waits;
  for (std::size_t resource = 0; resource < kResources; ++resource)
    waits.ns[resource] = parse_number<double>(file, fields[fields.size() - kResources + resource]);
  return waits;
}

std::optional<MeanWaits> read_known_waits(const std::string& file, const std::vector<std::string>& fields) {
  const bool is_known =
      std::any_of(fields.end() - kSplitColumns, fields.end(), [](const auto& field) { return !field.empty(); });
  return is_known ? std::optional(read_waits(file, fields)) : std::nullopt;
}

// Calls `take` with the fields of each row of one of our CSV files. A last line without a newline shows that the file is
// truncated.
template <class Take>
void read_rows(const std::string& file, const std::string& header, std::string_view content, const Take& take) {
  const bool whole = content.ends_with('\n');
  if (!content.starts_with(header + "\n")) throw InputError(file + " does not begin with " + header);
  if (!whole) throw InputError(file + " is cut off: its last line does not end");
  content.remove_prefix(header.size() + 1);
  const std::size_t columns = std::count(header.begin(), header.end(), ',') + 1;
  while (!content.empty()) {
    const std::string_view rest = content;
    auto fields = take_csv_row(content);
    if (!fields || fields->size() != columns) {
      const std::string line(rest.substr(0, rest.find('\n')));
      throw InputError(file + ": \"" + line + "\" does not have the columns " + header);
    }
    for (std::string& field : *fields) {
      if (field.starts_with('\'') && is_formula(field)) field.erase(0, 1);
    }
    take(*fields);
  }
}

}  // namespace

std::vector<CsvFile> csv_files(int point, const PointData& data) {
  std::vector<CsvFile> files = {{"latency.csv", latency_csv(point, data.latency)},
                                {"lines.csv", lines_csv(point, data.lines)},
                                {"locks.csv", locks_csv(point, data.locks)},
                                {"transitions.csv", transitions_csv(point, data.transitions)},
                                {"cpi.csv", cpi_csv(point, data.cpi)}};
  if (!data.matrix.empty()) files.push_back({"matrix.csv", matrix_csv(point, data.matrix)});
  if (!data.series.empty()) files.push_back({"series.csv", series_csv(point, data.series)});
  return files;
}

CsvFile seeds_csv(int point, std::uint64_t first_seed, const std::vector<PointData>& runs) {
  std::string out = std::string(kSeedsHeader) + "\n";
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const auto seed = static_cast<std::int64_t>(first_seed + run);
    for (const auto& [name, metric] : runs[run].metrics) {
      Row row(out);
      row << point << seed << name;
      std::visit([&row](auto value) { row << value; }, metric.value);
      row << metric.unit;
    }
  }
  return {"seeds.csv", out};
}

const std::vector<std::string>& csv_names() {
  static const std::vector<std::string> names = {"latency.csv", "lines.csv",  "locks.csv",  "transitions.csv",
                                                 "cpi.csv",     "matrix.csv", "series.csv", "seeds.csv"};
  return names;
}

std::string concatenate_csv(const std::vector<std::string>& contents) {
  std::string merged;
  for (const std::string& content : contents) {
    const std::size_t rows = content.find('\n') + 1;  // 0 for a content without a newline, because npos + 1 is 0
    if (!merged.empty() && content.substr(0, rows) != merged.substr(0, merged.find('\n') + 1))
      throw InputError("an earlier version has written some of the points, with other columns; --fresh runs all of them again");
    merged += merged.empty() ? content : content.substr(rows);
  }
  return merged;
}

std::map<int, std::vector<LatencyRow>> read_latency_csv(const std::string& content) {
  const std::string file = "latency.csv";
  std::map<int, std::vector<LatencyRow>> points;
  read_rows(file, kLatencyHeader, content, [&](const std::vector<std::string>& fields) {
    points[parse_number<int>(file, fields[0])].push_back({fields[1], fields[2], parse_number<std::int64_t>(file, fields[3]),
                                                          parse_number<double>(file, fields[4]),
                                                          parse_number<std::int64_t>(file, fields[5])});
  });
  return points;
}

std::map<int, std::vector<LineRow>> read_lines_csv(const std::string& content) {
  const std::string file = "lines.csv";
  std::map<int, std::vector<LineRow>> points;
  read_rows(file, lines_header(), content, [&](const std::vector<std::string>& fields) {
    const auto count = [&](std::size_t column) { return parse_number<std::int64_t>(file, fields[column]); };
    const auto number = [&](std::size_t column) { return parse_number<double>(file, fields[column]); };
    points[parse_number<int>(file, fields[0])].push_back({.structure = fields[1],
                                                          .object = fields[2],
                                                          .line = count(3),
                                                          .offset = count(4),
                                                          .field = fields[5],
                                                          .function = fields[6],
                                                          .access = fields[7],
                                                          .home = count(8),
                                                          .source = fields[9],
                                                          .count = count(10),
                                                          .remote_pct = number(11),
                                                          .latency_ns_mean = number(12),
                                                          .cpus = read_cpus(file, fields[13]),
                                                          .waits = read_known_waits(file, fields)});
  });
  return points;
}

std::map<int, std::vector<MatrixRow>> read_matrix_csv(const std::string& content) {
  const std::string file = "matrix.csv";
  std::map<int, std::vector<MatrixRow>> points;
  read_rows(file, kMatrixHeader, content, [&](const std::vector<std::string>& fields) {
    points[parse_number<int>(file, fields[0])].push_back(
        {parse_number<std::int64_t>(file, fields[1]), parse_number<std::int64_t>(file, fields[2]),
         parse_number<std::int64_t>(file, fields[3]), fields[4], parse_number<double>(file, fields[5])});
  });
  return points;
}

std::map<int, std::vector<SeriesRow>> read_series_csv(const std::string& content) {
  const std::string file = "series.csv";
  std::map<int, std::vector<SeriesRow>> points;
  read_rows(file, kSeriesHeader, content, [&](const std::vector<std::string>& fields) {
    points[parse_number<int>(file, fields[0])].push_back(
        {parse_number<double>(file, fields[1]), fields[2], parse_number<double>(file, fields[3])});
  });
  return points;
}

std::map<int, std::vector<LockRow>> read_locks_csv(const std::string& content) {
  const std::string file = "locks.csv";
  std::map<int, std::vector<LockRow>> points;
  read_rows(file, locks_header(), content, [&](const std::vector<std::string>& fields) {
    const auto number = [&](std::size_t column) { return parse_number<double>(file, fields[column]); };
    const auto count = [&](std::size_t column) { return parse_number<std::int64_t>(file, fields[column]); };
    points[parse_number<int>(file, fields[0])].push_back({.lock = fields[1],
                                                          .call_site = fields[2],
                                                          .util_pct = number(3),
                                                          .con_pct = number(4),
                                                          .hold_mean_us = number(5),
                                                          .hold_max_us = number(6),
                                                          .wait_mean_us = number(7),
                                                          .wait_max_us = number(8),
                                                          .cpu_pct = number(9),
                                                          .total = count(10),
                                                          .nowait = count(11),
                                                          .spin = count(12),
                                                          .rjct = count(13),
                                                          .misses = count(14),
                                                          .miss_ns_mean = number(15),
                                                          .waits = read_waits(file, fields)});
  });
  return points;
}

std::map<int, std::vector<CpiRow>> read_cpi_csv(const std::string& content) {
  const std::string file = "cpi.csv";
  std::map<int, std::vector<CpiRow>> points;
  read_rows(file, cpi_header(), content, [&](const std::vector<std::string>& fields) {
    const auto count = [&](std::size_t column) { return parse_number<std::int64_t>(file, fields[column]); };
    CpiRow row{.cpu = count(1), .function = fields[2], .instructions = count(3)};
    for (std::size_t part = 0; part < row.parts.size(); ++part) row.parts[part] = count(kBeforeCpiParts + part);
    points[parse_number<int>(file, fields[0])].push_back(std::move(row));
  });
  return points;
}

std::map<int, SeedValues> read_seeds_csv(const std::string& content) {
  const std::string file = "seeds.csv";
  std::map<int, SeedValues> points;
  read_rows(file, kSeedsHeader, content, [&](const std::vector<std::string>& fields) {
    SeedValues& values = points[parse_number<int>(file, fields[0])];
    values[fields[2]][parse_number<std::uint64_t>(file, fields[1])] = parse_number<double>(file, fields[3]);
  });
  return points;
}

std::string csv_field(std::string_view name) {
  const std::string text = (is_formula(name) ? "'" : "") + visible_name(name);
  if (text.find_first_of(",\"") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace linebounce::sim
