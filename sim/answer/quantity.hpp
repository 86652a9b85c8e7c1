// Figures for readers, in sentences and tables: three digits, and a suitable unit. Python's analysis/linebounce/quantity.py has
// the same rules; tests/analysis/quantities.csv checks both.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace linebounce::sim {

// "12.9", "0.50", "1234", "1.06 M": k, M or G from ten thousand on.
std::string figure(double value);
std::string figure(double value, const std::string& unit);  // "12.9 ns": in the given unit, for figures that will be compared

// The unit and decimals for the figures of one column or row, chosen by the largest of them.
struct Scale {
  double factor = 1;        // multiplies the metric's unit
  std::string prefix = {};  // "k", "M", "G" or nothing
  std::string unit = {};    // "µs", "%", "/s"
  int decimals = 0;

  [[nodiscard]] std::string name() const { return prefix + (prefix.empty() || unit.empty() || unit == "/s" ? "" : " ") + unit; }
};
Scale scale_of(double largest, const std::string& unit);
// The value with the scale's decimals, or with two digits if it is much smaller than the largest. Without the unit.
std::string figure_in(const Scale& scale, double value, std::optional<double> interval = {});

// Whether an interval is larger than the rounding of equal values.
bool is_interval(double value, double interval);

// A metric's unit as shown: "µs" for "us".
std::string shown_unit(const std::string& unit);

// "2.73 ±0.20 M/s", "931 k/s", "11.1 ±0.8 µs", "97.7 %". `what` replaces the 1 of a rate's unit "1/s": "2.73 M operations/s".
// An interval that is only the rounding of equal values is left out.
std::string quantity(double value, std::optional<double> interval, const std::string& unit, const std::string& what = "");

// How much larger a positive value is than a smaller positive one: "32 % more", "2.4 times as much".
std::string factor_text(double larger, double smaller);
// The same from the other side: "24 % less", "2.4 times less".
std::string fraction_text(double smaller, double larger);

// By how much the best value leads, from the larger of the two values over the smaller: "12 %", "a factor of 2.3".
std::string lead_text(double ratio);

// "a", "a and b", "a, b and c".
std::string enumeration(const std::vector<std::string>& items);

}  // namespace linebounce::sim
