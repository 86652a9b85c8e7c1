#include "sim/answer/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace linebounce::sim {
namespace {

struct Scale {
  double factor;
  const char* name;
};

constexpr std::array kTimes = {Scale{1, "ns"}, Scale{1e3, "µs"}, Scale{1e6, "ms"}, Scale{1e9, "s"}};
constexpr std::array kCounts = {Scale{1, ""}, Scale{1e3, "k"}, Scale{1e6, "M"}, Scale{1e9, "G"}};
constexpr double kLargestPlainCount = 1e4;

// 0 for a unit that is no time.
double nanoseconds_of(const std::string& unit) {
  return unit == "ns" ? 1 : unit == "us" ? 1e3 : unit == "ms" ? 1e6 : unit == "s" ? 1e9 : 0;
}

// The largest that leaves at least one digit before the point.
Scale scale_for(double size, std::span<const Scale> scales) {
  Scale chosen = scales.front();
  for (const Scale& scale : scales) {
    if (size >= 0.9995 * scale.factor) chosen = scale;
  }
  return chosen;
}

int decimals_of(double value) {
  const double size = std::abs(value);
  return size == 0 ? 0 : size < 0.01 ? 4 : size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
}

std::string digits(double value, std::optional<double> interval) {
  const int decimals = decimals_of(value);
  std::string text = fmt::format("{:.{}f}", value, decimals);
  constexpr double kRounding = 1e-9;
  if (!interval || *interval <= kRounding * std::abs(value)) return text;
  const std::string half = fmt::format("{:.{}f}", *interval, decimals);
  const bool too_small = half.find_first_of("123456789") == std::string::npos;
  return text + " ±" + (too_small ? fmt::format("{:.1g}", *interval) : half);
}

std::string scaled(double value, std::optional<double> interval, const Scale& scale) {
  if (interval) *interval /= scale.factor;
  return digits(value / scale.factor, interval);
}

std::string joined(const std::string& left, const std::string& right) {
  return right.empty() ? left : left + " " + right;
}

constexpr double kManyTimes = 2;

}  // namespace

std::string quantity(double value, std::optional<double> interval, const std::string& unit, const std::string& what) {
  if (const double ns = nanoseconds_of(unit); ns > 0) {
    if (interval) *interval *= ns;
    const Scale scale = scale_for(std::abs(value * ns), kTimes);
    return joined(scaled(value * ns, interval, scale), scale.name);
  }
  const bool rate = unit == "1/s";
  const std::string name = !what.empty() ? what : rate ? "per s" : unit;
  if (unit == "%" || std::abs(value) < kLargestPlainCount) return joined(digits(value, interval), name);
  const Scale scale = scale_for(std::abs(value), kCounts);
  return joined(scaled(value, interval, scale), joined(scale.name, name));
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

std::string enumeration(const std::vector<std::string>& items) {
  std::string text;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) text += i + 1 == items.size() ? " and " : ", ";
    text += items[i];
  }
  return text;
}

}  // namespace linebounce::sim
