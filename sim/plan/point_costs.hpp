// Predicts how long the points of a sweep take to simulate, from the points that have ended.
#pragma once

#include <cstddef>
#include <vector>

#include "sim/config/experiment.hpp"

namespace linebounce::sim {

// Models a point's cost as a product of factors, one for each swept value. A lock that has only run on 8 CPUs is thus
// expected to need more time on 32 CPUs by the same factor as other locks.
class PointCosts {
 public:
  explicit PointCosts(const std::vector<PointPlace>& points);

  // Records that a run of the point took `seconds` of CPU time.
  void add(int point, double seconds);

  // The expected CPU time of this point in seconds. While nothing is known, 1 for every point.
  [[nodiscard]] double expected(int point);

 private:
  struct Ended {
    std::size_t point;
    double seconds;
  };
  [[nodiscard]] double product(std::size_t point) const;
  void fit();

  std::vector<std::vector<std::size_t>> values_;  // by point, then by path: index of the point's value
  std::vector<std::vector<double>> factors_;      // by path and value
  double mean_ = 1;                               // seconds
  std::vector<Ended> ended_;
  std::size_t fitted_ = 0;  // number of elements of ended_ at the last fit
};

}  // namespace linebounce::sim
