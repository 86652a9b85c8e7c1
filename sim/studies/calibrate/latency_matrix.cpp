#include "sim/studies/calibrate/latency_matrix.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "models/machine_spec.hpp"
#include "sim/point/config_error.hpp"

namespace linebounce::sim {
namespace {

constexpr double kLeastMedianNs = 1;
constexpr double kMostMedianNs = 10'000;
constexpr std::string_view kBlank = " \t\r";
constexpr std::string_view kPlusMinus = "\xc2\xb1";  // between a mean and its error
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

struct Cell {
  std::string_view text;  // without blanks around it
  std::size_t line = 0, column = 0;
};
using Row = std::vector<Cell>;

class Parser {
 public:
  Parser(std::string_view text, const std::string& file) : file_(file) {
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    const std::size_t last = text.find_last_not_of(" \t\r\n");
    if (last == std::string_view::npos) throw ConfigError(file_ + ": the file is empty; expected a core-to-core matrix");
    if (text.find(kPlusMinus) != std::string_view::npos) {
      split_terminal(text);
      return;
    }
    // The first row may be all empty cells, and the last one may end in one: only whole lines are cut off at the end.
    const std::size_t end = text.find('\n', last);
    split(text.substr(0, end));
  }

  LatencyMatrix parse() {
    check_shape();
    const int cpus = static_cast<int>(rows_.size());
    LatencyMatrix matrix(cpus);
    for (int a = 0; a < cpus; ++a) {
      if (const Cell& own = cell(a, a); !own.text.empty()) latency(own);  // no use, but no nonsense either
      for (int b = 0; b < a; ++b) set_pair(matrix, a, b);
    }
    check_unit(matrix, file_);
    return matrix;
  }

 private:
  void split(std::string_view text) {
    for (std::size_t line = 1, begin = 0; begin <= text.size(); ++line) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      rows_.push_back(split_line(text.substr(begin, end - begin), line));
      begin = end + 1;
    }
  }

  // The table of the terminal's form: a head with the CPUs' numbers, then for each a line with its number and the pairs with
  // those before it. Around it stand other lines.
  void split_terminal(std::string_view text) {
    std::size_t columns = 0;
    for (std::size_t line = 1, begin = 0; begin <= text.size(); ++line) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      Row words = split_words(text.substr(begin, end - begin), line);
      begin = end + 1;
      if (columns == 0) {
        if (words.size() > 1 && numbers_from_0(words)) columns = words.size();
      } else if (!words.empty() && rows_.size() < columns) {
        if (words.front().text != std::to_string(rows_.size())) {
          refuse(words.front(), fmt::format("expected the line of CPU {} of {}", rows_.size(), columns));
        }
        words.erase(words.begin());
        words.resize(columns, {{}, line, end + 1});
        rows_.push_back(std::move(words));
      }
    }
    if (columns == 0)
      throw ConfigError(file_ + ": a mean with its error, but no line with the CPUs' numbers 0, 1, ... above it");
    if (rows_.size() < columns)
      throw ConfigError(fmt::format("{}: the table ends before the line of CPU {} of {}", file_, rows_.size(), columns));
  }

  // Without the errors, and without the terminal's colours.
  static Row split_words(std::string_view text, std::size_t line) {
    constexpr std::string_view kNumber = "0123456789.";
    Row words;
    for (std::size_t at = 0; at < text.size();) {
      if (text[at] == '\x1b') {
        at = std::min(text.find('m', at), text.size() - 1) + 1;
      } else if (text.substr(at).starts_with(kPlusMinus)) {
        at = std::min(text.find_first_not_of(kNumber, at + kPlusMinus.size()), text.size());
      } else if (kBlank.find(text[at]) != std::string_view::npos) {
        ++at;
      } else {
        const std::size_t end = std::min({text.find_first_of(" \t\r\x1b", at), text.find(kPlusMinus, at), text.size()});
        words.push_back({text.substr(at, end - at), line, at + 1});
        at = end;
      }
    }
    return words;
  }

  static bool numbers_from_0(const Row& words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words[i].text != std::to_string(i)) return false;
    }
    return true;
  }

  static Row split_line(std::string_view text, std::size_t line) {
    Row row;
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      const std::string_view raw = text.substr(begin, end - begin);
      const std::size_t first = std::min(raw.find_first_not_of(kBlank), raw.size());
      const std::size_t past = raw.find_last_not_of(kBlank) + 1;
      row.push_back({first < past ? raw.substr(first, past - first) : std::string_view{}, line, begin + first + 1});
      begin = end + 1;
    }
    return row;
  }

  void check_shape() const {
    const std::size_t columns = rows_.front().size();
    for (const Row& row : rows_) {
      if (row.size() == columns) continue;
      refuse(row.back(),
             fmt::format("{} cells, but line 1 has {}: a matrix has a row and a column for each CPU", row.size(), columns));
    }
    if (rows_.size() != columns) {
      refuse(rows_.back().front(),
             fmt::format("the matrix is not square: {} rows of {} cells; expected a row and a column for each CPU",
                         rows_.size(), columns));
    }
    if (columns == 1)
      refuse(rows_.front().front(), fmt::format("a matrix of one CPU has no pair; expected 2 to {} CPUs", kMostCpus));
    if (const std::size_t most = kMostCpus; columns > most) {
      refuse(rows_.front()[most], fmt::format("{} CPUs are more than a machine can have; legal: 2 to {}", columns, most));
    }
  }

  // What stands on one side of the diagonal only is the pair's; of two the mean.
  void set_pair(LatencyMatrix& matrix, int a, int b) const {
    const Cell& lower = cell(a, b);
    const Cell& upper = cell(b, a);
    if (lower.text.empty() && upper.text.empty()) {
      refuse(lower, fmt::format("no value for CPUs {} and {}, neither here nor on the other side of the diagonal", a, b));
    }
    if (lower.text.empty() || upper.text.empty()) {
      matrix.set(a, b, latency(lower.text.empty() ? upper : lower));
    } else {
      matrix.set_both(a, b, latency(lower), latency(upper));
    }
  }

  double latency(const Cell& cell) const {
    double ns = 0;
    const char* end = cell.text.data() + cell.text.size();
    const auto [stopped, error] = std::from_chars(cell.text.data(), end, ns);
    if (error != std::errc{} || stopped != end || !std::isfinite(ns)) {
      refuse(cell, fmt::format("\"{}\" is no latency; expected a number of nanoseconds", shown(cell.text)));
    }
    if (ns < 0) refuse(cell, fmt::format("{} is negative; a latency is 0 ns or more", cell.text));
    if (ns > kMostNs) refuse(cell, fmt::format("{} ns is out of range; legal: 0 to {}", cell.text, kMostNs));
    return ns;
  }

  // A cell of a file that is no matrix at all may be anything.
  static std::string shown(std::string_view text) {
    std::string out;
    for (const char c : text.substr(0, 40)) out += c >= ' ' && c <= '~' ? c : '?';
    return out + (text.size() > 40 ? "..." : "");
  }

  [[nodiscard]] const Cell& cell(int row, int column) const { return rows_[row][column]; }

  [[noreturn]] void refuse(const Cell& cell, const std::string& text) const {
    throw ConfigError(fmt::format("{}:{}:{}: {}", file_, cell.line, cell.column, text));
  }

  const std::string& file_;
  std::vector<Row> rows_;
};

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
      fmt::format("{}: half of the latencies are {} {:g} ns, which is no core-to-core latency (legal: {:g} to "
                  "{:g}): are they in {}? expected nanoseconds",
                  file, *middle < kLeastMedianNs ? "up to" : "at least", *middle, kLeastMedianNs, kMostMedianNs, unit));
}

LatencyMatrix parse_latency_matrix(const std::string& text, const std::string& file) {
  return Parser(text, file).parse();
}

}  // namespace linebounce::sim
