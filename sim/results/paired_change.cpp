#include "sim/results/paired_change.hpp"

#include <cmath>

#include "sim/results/merge_seeds.hpp"

namespace linebounce::sim {
namespace {

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

}  // namespace

bool PairedChange::significant() const {
  return std::abs(change_pct) > ci95_pct;
}

PairedChange paired_change(const std::vector<double>& base, const std::vector<double>& changed) {
  std::vector<double> differences;
  for (std::size_t i = 0; i < base.size(); ++i) differences.push_back(changed[i] - base[i]);
  const double difference = mean(differences);
  double squares = 0;
  for (const double value : differences) squares += (value - difference) * (value - difference);
  const auto n = static_cast<double>(differences.size());
  const double half_width = student_t_95(differences.size() - 1) * std::sqrt(squares / (n - 1) / n);
  PairedChange change;
  change.base = mean(base);
  change.changed = mean(changed);
  change.change_pct = 100 * difference / std::abs(change.base);
  change.ci95_pct = 100 * half_width / std::abs(change.base);
  return change;
}

}  // namespace linebounce::sim
