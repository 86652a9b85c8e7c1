#include "sim/studies/validate/validation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace linebounce::sim {
namespace {

constexpr double kNear = 0.15;
constexpr double kFar = 0.30;
constexpr double kInfinite = std::numeric_limits<double>::infinity();

bool is_series(const PaperRow& row) {
  return row.is_order() || row.shape != Shape::none;
}

double factor_of(double ratio) {
  return ratio <= 0 ? kInfinite : std::max(ratio, 1 / ratio);
}

std::optional<double> middle_of(const std::vector<double>& sorted) {
  if (sorted.empty()) return std::nullopt;
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

void insert_sorted(std::vector<double>& sorted, double value) {
  sorted.insert(std::upper_bound(sorted.begin(), sorted.end(), value), value);
}

// Larger is worse.
double distance(const PaperResult& result) {
  const auto ratio = simulated_over_published(result);
  if (is_series(result.row) || sign_is_right(result) == false) return kInfinite;
  return ratio ? factor_of(*ratio) : 1;
}

}  // namespace

std::optional<double> simulated_over_published(const PaperResult& result) {
  const PaperRow& row = result.row;
  if (!row.value || *row.value == 0 || !row.table.empty()) return std::nullopt;
  const double published = row.is_change() ? 1 + *row.value : *row.value;
  if (row.is_change() && (published <= 0 || std::abs(1 / published - 1) <= kNear)) return std::nullopt;
  if (!result.simulated) return result.ok ? std::optional(kInfinite) : std::nullopt;
  return row.is_change() ? (1 + *result.simulated) / published : *result.simulated / published;
}

std::optional<double> ValidationScore::median_error() const {
  return middle_of(errors);
}

std::optional<double> ValidationScore::median_factor() const {
  return middle_of(factors);
}

std::optional<bool> sign_is_right(const PaperResult& result) {
  const auto published = published_sign(result.row);
  if (!published || !result.ok) return std::nullopt;
  return result.change && result.change->sign == published;
}

bool is_miss(const PaperResult& result) {
  return result.ok == false || sign_is_right(result) == false;
}

void count(ValidationScore& score, const PaperResult& result) {
  if (!result.ok) return;
  ++score.rows;
  score.within_tolerance.count(*result.ok);
  if (is_series(result.row)) score.orders.count(*result.ok);
  if (const auto right = sign_is_right(result)) score.signs.count(*right);
  const auto ratio = simulated_over_published(result);
  if (!ratio) return;
  const double error = std::abs(*ratio - 1);
  insert_sorted(score.errors, error);
  insert_sorted(score.factors, factor_of(*ratio));
  score.within_15.count(error <= kNear);
  score.within_30.count(error <= kFar);
}

std::vector<const ValidatedRow*> misses_of(const std::vector<ValidatedRow>& rows) {
  std::vector<const ValidatedRow*> misses;
  for (const ValidatedRow& row : rows) {
    if (is_miss(row.result)) misses.push_back(&row);
  }
  std::stable_sort(misses.begin(), misses.end(),
                   [](const auto* a, const auto* b) { return distance(a->result) > distance(b->result); });
  return misses;
}

}  // namespace linebounce::sim
