// A measured core-to-core matrix as written by several tools and spreadsheets (forms/number_grid.hpp).
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "forms/import_losses.hpp"
#include "models/machine_layout.hpp"

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

  // Copies a pair's latencies, in both directions, from another matrix.
  void set_as(int a, int b, const LatencyMatrix& other, int other_a, int other_b) {
    set(a, b, other.at(other_a, other_b));
    if (const auto apart = other.directions_apart(other_a, other_b)) apart_[{std::min(a, b), std::max(a, b)}] = *apart;
  }

  // The difference between the two directions in ns; none if only one was measured.
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
  bool in_cycles = false;  // true if the file has cycles, which were converted with a clock of `mhz`
  int further_tables = 0;  // tables behind the one that was read, as core-to-core-latency prints for its other ways to measure
};

// Reads a matrix from text: a row and a column per CPU, in any form that split_grid() accepts. One side of the diagonal may
// be empty; otherwise the mean of both directions is used. `file`: for messages. Errors: ConfigError "FILE:LINE:COLUMN: ..."
MeasuredMatrix parse_measured_matrix(const std::string& text, const std::string& file, double mhz = kAssumedMhz);

// Checks the unit. Errors: ConfigError if half of the pairs have latencies of a clock cycle or less, or as long as a disk's.
void check_unit(const LatencyMatrix& matrix, const std::string& file);

// How far a measured matrix contradicts the assumed cores.
//
// All threads of one core are equally far from all threads of another core, so the pairs of two cores are several
// measurements of one latency. If these disagree, no machine with these cores can reproduce them all. (A structure that was
// derived from the matrix takes CPUs for threads of a core if they are near enough.)
struct Contradiction {
  // Deviation in ns of such pairs from their mean, as RMS over all pairs of the matrix. A machine with these cores cannot
  // have a smaller error.
  double threads_ns = 0;
  int measured_again = 0;  // number of pairs beyond the first between two cores
};

// REQUIRES: `measured` numbers CPUs as `layout` does.
Contradiction find_contradiction(const LatencyMatrix& measured, const MachineLayout& layout);

// Compares the two directions of each pair. A difference is not a contradiction: a line may cost more in one direction, but
// machines here do not model that.
struct ThereAndBack {
  double apart_ns = 0;  // RMS over pairs measured in both directions
  int pairs = 0;
};

ThereAndBack compare_there_and_back(const LatencyMatrix& measured);

}  // namespace linebounce::sim
