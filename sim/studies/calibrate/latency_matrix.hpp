// A measured core-to-core matrix, as the common core-to-core-latency tool writes it with --csv.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace linebounce::sim {

// What it costs to hand a line from one CPU to another, in ns, the mean of both directions. The diagonal means nothing.
class LatencyMatrix {
 public:
  LatencyMatrix() = default;
  explicit LatencyMatrix(int cpus) : cpus_(cpus), ns_(cpus * cpus) {}

  [[nodiscard]] int cpus() const { return cpus_; }
  [[nodiscard]] double at(int a, int b) const { return ns_[index(a, b)]; }
  void set(int a, int b, double ns) { ns_[index(a, b)] = ns_[index(b, a)] = ns; }
  void set_both(int a, int b, double there, double back) {
    set(a, b, (there + back) / 2);
    apart_[{std::min(a, b), std::max(a, b)}] = std::fabs(there - back);
  }

  // With its directions, as another matrix has that pair.
  void set_as(int a, int b, const LatencyMatrix& other, int other_a, int other_b) {
    set(a, b, other.at(other_a, other_b));
    if (const auto apart = other.directions_apart(other_a, other_b)) apart_[{std::min(a, b), std::max(a, b)}] = *apart;
  }

  // Where both directions were measured: what they differ by, in ns.
  [[nodiscard]] std::optional<double> directions_apart(int a, int b) const {
    const auto found = apart_.find({std::min(a, b), std::max(a, b)});
    return found == apart_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  [[nodiscard]] std::size_t index(int a, int b) const { return a * cpus_ + b; }

  int cpus_ = 0;
  std::vector<double> ns_;
  std::map<std::pair<int, int>, double> apart_;
};

// Reads the text of such a file: a row and a column for each CPU, without a head. The tool measures a pair once and leaves the
// diagonal and all above it empty; where both directions stand there, their mean counts. What the tool shows on the terminal is
// read as well: the table of means with their errors ("576±6"), with all that stands around it. `file` is for messages.
// Errors: ConfigError "FILE:LINE:COLUMN: ..." for a matrix that is empty, not square, of one CPU or more than a machine may
// have, for a pair without a value, and for what is no latency: text, a negative number, NaN, infinity; and for latencies that
// are in another unit, as their median shows.
LatencyMatrix parse_latency_matrix(const std::string& text, const std::string& file);

// No machine hands lines over in less than a clock, or as slowly as a disk. Errors: ConfigError, if half of the pairs do so.
void check_unit(const LatencyMatrix& matrix, const std::string& file);

}  // namespace linebounce::sim
