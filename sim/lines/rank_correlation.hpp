// Whether two figures of the same things put them into the same order.
#pragma once

#include <optional>
#include <vector>

namespace linebounce::sim {

// Spearman's coefficient: 1 for the same order, -1 for the opposite one. Equal values share the mean of their ranks. Nothing
// for fewer than two things, or where all values of `measured` are equal; 0 where all of `simulated` are: they tell no order.
// REQUIRES: both have one length.
std::optional<double> rank_correlation(const std::vector<double>& measured, const std::vector<double>& simulated);

// Of an even number of values the mean of the middle two. REQUIRES: at least one.
double median(std::vector<double> values);

}  // namespace linebounce::sim
