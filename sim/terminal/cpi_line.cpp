#include "sim/terminal/cpi_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "sim/statistics/share.hpp"
#include "sim/statistics/source_names.hpp"

namespace linebounce::sim {

std::string cpi_line(const std::vector<CpiRow>& rows, const Painter& paint) {
  constexpr double kLeastShown = 1;
  std::vector<std::pair<std::int64_t, const char*>> parts;
  std::int64_t all = 0;
  for (std::size_t part = 0; part < kTimePartWords.size(); ++part) {
    std::int64_t cycles = 0;
    for (const CpiRow& row : rows) cycles += row.parts[part];
    parts.emplace_back(cycles, kTimePartWords[part]);
    all += cycles;
  }
  if (all == 0) return "";
  std::ranges::stable_sort(parts, std::ranges::greater{}, [](const auto& part) { return part.first; });
  std::vector<std::string> shown;
  double others = 0;
  for (const auto& [cycles, words] : parts) {
    const double pct = share_pct(static_cast<double>(cycles), static_cast<double>(all));
    if (pct >= kLeastShown) {
      shown.push_back(fmt::format("{:.0f} % {}", pct, words));
    } else {
      others += pct;
    }
  }
  if (others >= kLeastShown) shown.push_back(fmt::format("{:.0f} % others", others));
  return paragraph(fmt::format("Of all CPUs' time: {}", fmt::join(shown, ", ")), 2, Colour::none, paint);
}

}  // namespace linebounce::sim
