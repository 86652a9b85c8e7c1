// A measured core-to-core matrix, as several tools and spreadsheets write it (sim/sources/number_grid.hpp).
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/machine_layout.hpp"

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

// Of a processor whose clock is not told.
inline constexpr double kUsualMhz = 3000;

struct MeasuredMatrix {
  LatencyMatrix matrix;
  std::string form;        // "a matrix with the CPUs' numbers"
  bool in_cycles = false;  // the file has cycles, which were taken as such of a clock of `mhz`
};

// Reads the text of such a file: a row and a column for each CPU, in any form that split_grid() knows. A pair may be measured
// once, with the diagonal and one side of it empty; where both directions stand there, their mean counts. `file` is for
// messages. Errors: ConfigError "FILE:LINE:COLUMN: ..." for a matrix that is empty, not square, of one CPU or more than a
// machine may have, for a pair without a value, and for what is no latency: text, a negative number, NaN, infinity; and for
// latencies that are in another unit, as their median shows.
MeasuredMatrix parse_measured_matrix(const std::string& text, const std::string& file, double mhz);
LatencyMatrix parse_latency_matrix(const std::string& text, const std::string& file);

// No machine hands lines over in less than a clock, or as slowly as a disk. Errors: ConfigError, if half of the pairs do so.
void check_unit(const LatencyMatrix& matrix, const std::string& file);

// What a measured matrix gives more than once, with values that disagree.
//
// The threads of one core are as far from those of another as that core is, so pairs of the same two cores are one latency,
// measured several times. No machine with these cores can show all of it, if they are cores: what is near enough to be threads
// is taken for threads.
struct Contradiction {
  // What such pairs differ by from their mean, in ns, RMS over all pairs of the matrix: the least that such a machine is off.
  double threads_ns = 0;
  int measured_again = 0;  // pairs of the same two cores, besides the first of each
};

// CPUs as the layout numbers them.
Contradiction find_contradiction(const LatencyMatrix& measured, const MachineLayout& layout);

// The two directions of pairs. No contradiction: a line may really cost more in one direction, though in no machine here.
struct ThereAndBack {
  double apart_ns = 0;  // RMS over the pairs that were measured both ways
  int pairs = 0;
};

ThereAndBack compare_there_and_back(const LatencyMatrix& measured);

}  // namespace linebounce::sim
