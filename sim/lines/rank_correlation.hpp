// Measures whether two sets of figures put the same things into the same order.
#pragma once

#include <optional>
#include <vector>

namespace linebounce::sim {

// Spearman's coefficient: 1 for the same order, -1 for the opposite one. Equal values share the mean of their ranks. None for
// fewer than two things, or if all of `measured` are equal; 0 if all of `simulated` are. REQUIRES: both have the same length.
std::optional<double> rank_correlation(const std::vector<double>& measured, const std::vector<double>& simulated);

// The median; with an even number of values, the mean of the middle two. REQUIRES: at least one value.
double median(std::vector<double> values);

}  // namespace linebounce::sim
