// How far simulated figures are from published ones: errors, signs, orders, counted over any rows.
#pragma once

#include <optional>
#include <vector>

#include "sim/studies/validate/first_runs.hpp"

namespace linebounce::sim {

// What is aimed at, of predicted rows.
constexpr double kMedianErrorGoal = 0.15;
constexpr double kOrderGoal = 0.95;
constexpr double kSignGoal = 28.0 / 30;

// Simulated over published figure. Of a change both are taken as factors, 1.43 for +43 %; one so small that no change at all
// would be within 15 % says nothing by its size, and counts by its sign alone. Infinite where the run has no such figure. Empty
// for what is no figure, for a figure of 0, and for shares of a measured table, which are judged in points.
std::optional<double> simulated_over_published(const PaperResult& result);

struct Tally {
  int right = 0;
  int of = 0;
  void count(bool is_right) {
    right += is_right ? 1 : 0;
    ++of;
  }
  [[nodiscard]] double share() const { return of == 0 ? 0 : static_cast<double>(right) / of; }
};

struct ValidationScore {
  int rows = 0;                 // that were judged
  std::vector<double> errors;   // |simulated / published - 1|, sorted
  std::vector<double> factors;  // that ratio or its inverse, whichever is larger, sorted
  Tally within_15, within_30;   // of these errors
  Tally signs;                  // of changes: gain, loss, no effect
  Tally orders;                 // of shapes and orders
  Tally within_tolerance;       // of all rows

  [[nodiscard]] std::optional<double> median_error() const;
  [[nodiscard]] std::optional<double> median_factor() const;
};

void count(ValidationScore& score, const PaperResult& result);

// Of a row that has a sign and was run.
std::optional<bool> sign_is_right(const PaperResult& result);

// A row that is out of its tolerance, or has the wrong sign.
bool is_miss(const PaperResult& result);

// The misses: wrong signs, shapes and orders, then the figures, the farthest off first.
std::vector<const ValidatedRow*> misses_of(const std::vector<ValidatedRow>& rows);

}  // namespace linebounce::sim
