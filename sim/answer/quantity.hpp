// Figures in sentences: three digits, and the unit that fits them.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace linebounce::sim {

// "2.73 ±0.20 M/s", "931 k/s", "11.1 ±0.8 µs", "97.7 %". A rate's unit is "1/s"; `what` stands in its place: "2.73 M
// operations/s". An interval that is only the rounding of equal values is left out.
std::string quantity(double value, std::optional<double> interval, const std::string& unit, const std::string& what = "");

// How much larger a positive value is than a smaller positive one: "32 % more", "2.4 times as much".
std::string factor_text(double larger, double smaller);
// The same from the other side: "24 % less", "2.4 times less".
std::string fraction_text(double smaller, double larger);

// "a", "a and b", "a, b and c".
std::string enumeration(const std::vector<std::string>& items);

}  // namespace linebounce::sim
