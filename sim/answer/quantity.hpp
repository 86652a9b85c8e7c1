// Formats figures for sentences and tables: three digits, and a suitable unit. analysis/linebounce/quantity.py follows the same
// rules; tests/analysis/quantities.csv checks both.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace linebounce::sim {

// "12.9", "0.50", "1234", "1.06 M": k, M or G from ten thousand on.
std::string figure(double value);
std::string figure(
    double value,
    const std::string& unit);  // "12.9 ns": in the given unit, for figures that will be compared; a rate as "2.73 M/s"

// Unit and number of decimals for all figures of a column or row, chosen for the largest of them.
struct Scale {
  double factor = 1;        // multiplies the metric's unit
  std::string prefix = {};  // "k", "M", "G" or nothing
  std::string unit = {};    // "µs", "%", "/s"
  int decimals = 0;

  [[nodiscard]] std::string name() const { return prefix + (prefix.empty() || unit.empty() || unit == "/s" ? "" : " ") + unit; }
};
Scale scale_of(double largest, const std::string& unit);
// The value with the scale's decimals, without unit. A value much smaller than the largest is shown with two digits.
std::string figure_in(const Scale& scale, double value, std::optional<double> interval = {});

// False if the interval only comes from rounding equal values.
bool is_interval(double value, double interval);

// A metric's unit as shown: "µs" for "us".
std::string shown_unit(const std::string& unit);

// "2.73 ±0.20 M/s", "931 k/s", "11.1 ±0.8 µs", "97.7 %". `what` replaces the 1 in the unit "1/s": "2.73 M operations/s". Omits
// an interval that only comes from rounding.
std::string quantity(double value, std::optional<double> interval, const std::string& unit, const std::string& what = "");

// How much `larger` exceeds `smaller`: "32 % more", "2.4 times as much". REQUIRES: both are positive.
std::string factor_text(double larger, double smaller);
// How far `smaller` is below `larger`: "24 % less", "2.4 times less".
std::string fraction_text(double smaller, double larger);

// The lead of the best value, from the ratio of the larger to the smaller value: "12 %", "a factor of 2.3".
std::string lead_text(double ratio);

// "a", "a and b", "a, b and c".
std::string enumeration(const std::vector<std::string>& items);

}  // namespace linebounce::sim
