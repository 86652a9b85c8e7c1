#include "forms/size_text.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "forms/line_file.hpp"

namespace linebounce::sim {

std::optional<std::int64_t> bytes_of_size(std::string_view text) {
  struct Unit {
    std::string_view name;
    std::int64_t bytes;
  };
  constexpr std::int64_t kKib = 1024;
  constexpr std::array kUnits = {Unit{"", 1},
                                 Unit{"b", 1},
                                 Unit{"bytes", 1},
                                 Unit{"k", kKib},
                                 Unit{"kb", kKib},
                                 Unit{"kib", kKib},
                                 Unit{"m", kKib * kKib},
                                 Unit{"mb", kKib * kKib},
                                 Unit{"mib", kKib * kKib},
                                 Unit{"g", kKib * kKib * kKib},
                                 Unit{"gb", kKib * kKib * kKib},
                                 Unit{"gib", kKib * kKib * kKib}};
  constexpr double kMostBytes = 1e15;
  text = stripped(text);
  const std::size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  const auto number = real(text.substr(0, end));
  const std::string name = lower_case(stripped(text.substr(end)));
  const auto* const unit = std::ranges::find(kUnits, name, &Unit::name);
  if (!number || unit == kUnits.end()) return std::nullopt;
  const double bytes = *number * static_cast<double>(unit->bytes);
  return bytes <= kMostBytes ? std::optional(std::llround(bytes)) : std::nullopt;
}

}  // namespace linebounce::sim
