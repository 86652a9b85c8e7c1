#include "sim/studies/calibrate/contradiction.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

namespace linebounce::sim {
namespace {

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
