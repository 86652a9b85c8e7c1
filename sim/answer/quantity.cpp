#include "sim/answer/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace linebounce::sim {
namespace {

struct Step {
  double factor;
  const char* name;
};

constexpr std::array kTimes = {Step{1, "ns"}, Step{1e3, "µs"}, Step{1e6, "ms"}, Step{1e9, "s"}};
constexpr std::array kCounts = {Step{1, ""}, Step{1e3, "k"}, Step{1e6, "M"}, Step{1e9, "G"}};
constexpr double kLargestPlainCount = 1e4;
constexpr std::string_view kRate = "1/s";

// How many nanoseconds one unit has; 0 if the unit is not a unit of time.
double nanoseconds_of(const std::string& unit) {
  return unit == "ns" ? 1 : unit == "us" ? 1e3 : unit == "ms" ? 1e6 : unit == "s" ? 1e9 : 0;
}

// The largest step at which the number still has a digit before the point.
Step step_for(double size, std::span<const Step> steps) {
  Step chosen = steps.front();
  for (const Step& step : steps) {
    if (size >= 0.9995 * step.factor) chosen = step;
  }
  return chosen;
}

constexpr double kSmallest = 0.01;  // a smaller value would print as 0.00
constexpr double kLargest = 1e9;    // a larger one would print as up to 300 digits

int decimals_of(double value) {
  const double size = std::abs(value);
  return size == 0 ? 0 : size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
}

std::string digits(double value, int decimals) {
  constexpr std::array kTwoDigits = {10.0, 1.0, 0.1};  // by number of decimals
  if (std::abs(value) >= kLargest) return fmt::format("{:.3g}", value);
  const bool too_small = value != 0 && std::abs(value) < kTwoDigits.at(decimals);
  if (!too_small) return fmt::format("{:.{}f}", value, decimals);
  return std::abs(value) < kSmallest ? fmt::format("{:.2g}", value) : fmt::format("{:.{}f}", value, decimals_of(value));
}

std::string digits(double value, std::optional<double> interval, int decimals) {
  std::string text = digits(value, decimals);
  if (!interval || !is_interval(value, *interval)) return text;
  const std::string half = fmt::format("{:.{}f}", *interval, decimals);
  const bool too_small = half.find_first_of("123456789") == std::string::npos;
  return text + " ±" + (too_small ? fmt::format("{:.1g}", *interval) : half);
}

std::string joined(const std::string& left, const std::string& right) {
  return left.empty() || right.empty() ? left + right : left + " " + right;
}

constexpr double kManyTimes = 2;

}  // namespace

bool is_interval(double value, double interval) {
  constexpr double kRounding = 1e-9;
  return interval > kRounding * std::abs(value);
}

std::string shown_unit(const std::string& unit) {
  return unit == "us" || unit.ends_with("/us") ? unit.substr(0, unit.size() - 2) + "µs" : unit;
}

Scale scale_of(double largest, const std::string& unit) {
  largest = std::abs(largest);
  Scale scale{.unit = unit == kRate ? "/s" : shown_unit(unit)};
  if (const double ns = nanoseconds_of(unit); ns > 0) {
    const Step step = step_for(largest * ns, kTimes);
    scale.factor = step.factor / ns;
    scale.unit = step.name;
  } else if (unit != "%" && largest >= kLargestPlainCount) {
    const Step step = step_for(largest, kCounts);
    scale.factor = step.factor;
    scale.prefix = step.name;
  }
  scale.decimals = decimals_of(largest / scale.factor);
  return scale;
}

std::string figure_in(const Scale& scale, double value, std::optional<double> interval) {
  if (interval) *interval /= scale.factor;
  return digits(value / scale.factor, interval, scale.decimals);
}

std::string figure(double value) {
  const Scale scale = scale_of(value, "");
  return joined(figure_in(scale, value), scale.prefix);
}

std::string figure(double value, const std::string& unit) {
  if (unit == kRate) return quantity(value, {}, unit);
  return joined(digits(value, decimals_of(value)), shown_unit(unit));
}

std::string quantity(double value, std::optional<double> interval, const std::string& unit, const std::string& what) {
  const Scale scale = scale_of(value, unit);
  const std::string text = figure_in(scale, value, interval);
  if (!what.empty() && nanoseconds_of(unit) == 0) return joined(text, joined(scale.prefix, what));
  return joined(text, scale.unit == "/s" ? scale.prefix + "/s" : joined(scale.prefix, scale.unit));
}

std::string factor_text(double larger, double smaller) {
  const double times = larger / smaller;
  if (times >= kManyTimes) return fmt::format("{:.2g} times as much as", times);
  return fmt::format("{:.2g} % more than", 100 * (times - 1));
}

std::string fraction_text(double smaller, double larger) {
  const double share = smaller / larger;
  if (share > 0 && 1 / share >= kManyTimes) return fmt::format("{:.2g} times less than", 1 / share);
  return fmt::format("{:.2g} % less than", 100 * (1 - share));
}

std::string lead_text(double ratio) {
  return ratio < kManyTimes ? fmt::format("{:.2g} %", 100 * (ratio - 1)) : fmt::format("a factor of {:.2g}", ratio);
}

std::string enumeration(const std::vector<std::string>& items) {
  std::string text;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) text += i + 1 == items.size() ? " and " : ", ";
    text += items[i];
  }
  return text;
}

}  // namespace linebounce::sim
