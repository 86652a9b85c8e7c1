// A measured core-to-core matrix as written by several tools and spreadsheets (sim/sources/number_grid.hpp).
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/machine_layout.hpp"
#include "sim/sources/import_losses.hpp"

namespace linebounce::sim {

// Time to transfer a line from one CPU to another, in ns, as the mean of both directions. The diagonal is unused.
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

  // Copies a pair of another matrix with both directions.
  void set_as(int a, int b, const LatencyMatrix& other, int other_a, int other_b) {
    set(a, b, other.at(other_a, other_b));
    if (const auto apart = other.directions_apart(other_a, other_b)) apart_[{std::min(a, b), std::max(a, b)}] = *apart;
  }

  // If both directions were measured, their difference in ns.
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

struct MeasuredMatrix {
  LatencyMatrix matrix;
  bool in_cycles = false;  // the file has cycles, which were converted with a clock of `mhz`
};

// Reads the text of such a file: a row and a column per CPU, in any form that split_grid() accepts. A pair may be measured
// once, with one side of the diagonal empty; if both directions are present, their mean counts. `file`: for messages. Errors:
// ConfigError "FILE:LINE:COLUMN: ..."
MeasuredMatrix parse_measured_matrix(const std::string& text, const std::string& file, double mhz = kAssumedMhz);

// No machine transfers lines within a clock cycle, or as slowly as a disk. Errors: ConfigError if half of the pairs suggest so.
void check_unit(const LatencyMatrix& matrix, const std::string& file);

// What a measured matrix gives more than once, with values that disagree.
//
// The threads of one core are as far from those of another as that core is, so pairs of the same two cores are one latency,
// measured several times. No machine with these cores can show all of it, if they are cores: what is near enough to be threads
// is taken for threads.
struct Contradiction {
  // Deviation of such pairs from their mean, in ns, RMS over all pairs of the matrix: the smallest error that such a machine
  // can have.
  double threads_ns = 0;
  int measured_again = 0;  // further pairs of the same two cores, beyond the first of each
};

// CPUs have the layout's numbers.
Contradiction find_contradiction(const LatencyMatrix& measured, const MachineLayout& layout);

// The two directions of pairs. Differing directions are not a contradiction: a line may really cost more in one direction, but
// no machine here models that.
struct ThereAndBack {
  double apart_ns = 0;  // RMS over pairs measured in both directions
  int pairs = 0;
};

ThereAndBack compare_there_and_back(const LatencyMatrix& measured);

}  // namespace linebounce::sim
