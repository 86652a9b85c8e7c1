#include "commands/calibrate/latency_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "forms/number_grid.hpp"
#include "models/machine_spec.hpp"
#include "sim/point/config_error.hpp"

namespace linebounce::sim {
namespace {

constexpr double kLeastMedianNs = 1;
constexpr double kMostMedianNs = 10'000;

// A decimal comma becomes a point.
std::string with_point(std::string_view text, bool decimal_commas) {
  std::string number(text);
  if (decimal_commas) std::ranges::replace(number, ',', '.');
  return number;
}

class Parser {
 public:
  Parser(std::string_view text, const std::string& file, double mhz)
      : file_(file), grid_(split_grid(text)), ns_per_unit_(grid_.in_cycles ? 1000 / mhz : 1) {
    if (!grid_.problem.empty() && grid_.problem_at.text.empty()) throw ConfigError(file_ + ": " + grid_.problem);
    if (!grid_.problem.empty()) refuse(grid_.problem_at, grid_.problem);
    if (grid_.rows.empty()) throw ConfigError(file_ + ": the file is empty; expected a core-to-core matrix");
  }

  MeasuredMatrix parse() {
    check_shape();
    const int cpus = static_cast<int>(rows().size());
    LatencyMatrix matrix(cpus);
    for (int a = 0; a < cpus; ++a) {
      if (const GridCell& own = cell(a, a); !own.text.empty()) latency(own);  // the diagonal is not used, but must be a number
      for (int b = 0; b < a; ++b) set_pair(matrix, a, b);
    }
    check_unit(matrix, file_);
    return {std::move(matrix), grid_.in_cycles, grid_.further_tables};
  }

 private:
  [[nodiscard]] const std::vector<GridRow>& rows() const { return grid_.rows; }

  void check_shape() const {
    const std::size_t columns = rows().front().size();
    for (const GridRow& row : rows()) {
      if (row.size() == columns) continue;
      refuse(row.empty() ? GridCell{} : row.back(),
             fmt::format("{} cells, but line 1 has {}: a matrix has a row and a column for each CPU", row.size(), columns));
    }
    if (rows().size() != columns) {
      refuse(rows().back().front(),
             fmt::format("the matrix is not square: {} rows of {} cells; expected a row and a column for each CPU",
                         rows().size(), columns));
    }
    const GridCell& first = rows().front().front();
    if (columns == 1 && first.text.find_first_of("0123456789") == std::string_view::npos)
      refuse(first, fmt::format("this is neither linebounce-probe's file nor a core-to-core matrix: \"{}\" is not a number",
                                shown(first.text)));
    if (columns == 1)
      refuse(rows().front().front(), fmt::format("a matrix of one CPU has no pair; expected 2 to {} CPUs", kMostCpus));
    if (const std::size_t most = kMostCpus; columns > most) {
      refuse(rows().front()[most], fmt::format("{} CPUs are more than a machine can have; legal: 2 to {}", columns, most));
    }
  }

  // The mean of both sides of the diagonal; if one side is empty, the other one.
  void set_pair(LatencyMatrix& matrix, int a, int b) const {
    const GridCell& lower = cell(a, b);
    const GridCell& upper = cell(b, a);
    if (lower.text.empty() && upper.text.empty()) {
      refuse(lower, fmt::format("no value for CPUs {} and {}, neither here nor on the other side of the diagonal", a, b));
    }
    if (lower.text.empty() || upper.text.empty()) {
      matrix.set(a, b, latency(lower.text.empty() ? upper : lower));
    } else {
      matrix.set_both(a, b, latency(lower), latency(upper));
    }
  }

  double latency(const GridCell& cell) const {
    double ns = 0;
    const std::string text = with_point(cell.text, grid_.decimal_commas);
    const char* end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, ns);
    ns *= ns_per_unit_;
    if (error != std::errc{} || stopped != end || !std::isfinite(ns)) {
      refuse(cell, fmt::format("\"{}\" is not a latency; expected a number of nanoseconds", shown(cell.text)));
    }
    if (ns < 0) refuse(cell, fmt::format("{} is negative; a latency is 0 ns or more", cell.text));
    if (ns > kMostNs) refuse(cell, fmt::format("{} ns is out of range; legal: 0 to {}", cell.text, kMostNs));
    return ns;
  }

  // A cell for messages, shortened and escaped, because a file that is not a matrix may contain anything.
  static std::string shown(std::string_view text) {
    std::string out;
    for (const char c : text.substr(0, 40)) out += c >= ' ' && c <= '~' ? c : '?';
    return out + (text.size() > 40 ? "..." : "");
  }

  [[nodiscard]] const GridCell& cell(int row, int column) const { return rows()[row][column]; }

  [[noreturn]] void refuse(const GridCell& cell, const std::string& text) const {
    throw ConfigError(fmt::format("{}:{}:{}: {}", file_, cell.line, cell.column, text));
  }

  const std::string& file_;
  NumberGrid grid_;
  double ns_per_unit_;
};

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double squares_about(double mean, const std::vector<double>& values) {
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return squares;
}

double all_pairs_of(int cpus) {
  return cpus * (cpus - 1) / 2.0;
}

void compare_threads(const LatencyMatrix& measured, const MachineLayout& layout, Contradiction& found) {
  std::map<std::pair<int, int>, std::vector<double>> by_cores;
  for (int a = 0; a < measured.cpus(); ++a) {
    for (int b = 0; b < a; ++b) {
      const int one = layout.cpus[a].core;
      const int other = layout.cpus[b].core;
      by_cores[{std::min(one, other), std::max(one, other)}].push_back(measured.at(a, b));
    }
  }
  double squares = 0;
  for (const auto& [cores, ns] : by_cores) {
    squares += squares_about(mean_of(ns), ns);
    found.measured_again += static_cast<int>(ns.size()) - 1;
  }
  found.threads_ns = std::sqrt(squares / all_pairs_of(measured.cpus()));
}

}  // namespace

void check_unit(const LatencyMatrix& matrix, const std::string& file) {
  std::vector<double> pairs;
  for (int a = 0; a < matrix.cpus(); ++a) {
    for (int b = 0; b < a; ++b) pairs.push_back(matrix.at(a, b));
  }
  const auto middle = pairs.begin() + static_cast<std::ptrdiff_t>(pairs.size() / 2);
  std::nth_element(pairs.begin(), middle, pairs.end());
  if (*middle >= kLeastMedianNs && *middle <= kMostMedianNs) return;
  const char* unit = *middle < kLeastMedianNs ? "microseconds" : "picoseconds";
  throw ConfigError(
      fmt::format("{}: half of the latencies are {} {:g} ns, which is not a core-to-core latency (legal: {:g} to "
                  "{:g}): are they in {}? expected nanoseconds",
                  file, *middle < kLeastMedianNs ? "up to" : "at least", *middle, kLeastMedianNs, kMostMedianNs, unit));
}

MeasuredMatrix parse_measured_matrix(const std::string& text, const std::string& file, double mhz) {
  return Parser(text, file, mhz).parse();
}

Contradiction find_contradiction(const LatencyMatrix& measured, const MachineLayout& layout) {
  Contradiction found;
  if (measured.cpus() >= 2) compare_threads(measured, layout, found);
  return found;
}

ThereAndBack compare_there_and_back(const LatencyMatrix& measured) {
  ThereAndBack directions;
  double squares = 0;
  for (int a = 0; a < measured.cpus(); ++a) {
    for (int b = 0; b < a; ++b) {
      const auto apart = measured.directions_apart(a, b);
      if (!apart) continue;
      squares += *apart * *apart;
      ++directions.pairs;
    }
  }
  if (directions.pairs > 0) directions.apart_ns = std::sqrt(squares / directions.pairs);
  return directions;
}

}  // namespace linebounce::sim
