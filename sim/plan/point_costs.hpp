// How long the points of a sweep take to simulate: those to come are foretold by those that have ended.
#pragma once

#include <cstddef>
#include <vector>

#include "sim/config/experiment.hpp"

namespace linebounce::sim {

// A point's cost is taken for a product: each value of each swept path has a factor. 32 CPUs under a lock that has not run yet
// cost what this lock has cost so far, as many times over as 32 CPUs do under other locks.
class PointCosts {
 public:
  explicit PointCosts(const std::vector<PointPlace>& points);

  // A run of the point has ended, after so many seconds of CPU time.
  void add(int point, double seconds);

  // Seconds of a run of this point; 1 of each while nothing is known.
  [[nodiscard]] double expected(int point);

 private:
  struct Ended {
    std::size_t point;
    double seconds;
  };
  [[nodiscard]] double product(std::size_t point) const;
  void fit();

  std::vector<std::vector<std::size_t>> values_;  // of each point: which value it has on each path
  std::vector<std::vector<double>> factors_;      // of each path's values
  double mean_ = 1;                               // seconds
  std::vector<Ended> ended_;
  std::size_t fitted_ = 0;  // so many of them are in the fit
};

}  // namespace linebounce::sim
