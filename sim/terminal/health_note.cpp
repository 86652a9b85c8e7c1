#include "sim/terminal/health_note.hpp"

#include <fmt/format.h>

#include "sim/results/run_health.hpp"
#include "sim/terminal/metrics_table.hpp"

namespace linebounce::sim {

std::string health_note(const std::vector<ReportedPoint>& points, const Painter& paint) {
  constexpr std::size_t kMostLines = 6;
  std::string out;
  std::size_t warnings = 0;
  for (const ReportedPoint& point : points) {
    const std::string where = point.at.empty() ? "" : point_title(point) + ": ";
    for (const std::string& warning : health_warnings(point)) {
      if (++warnings > kMostLines) continue;
      out += "  " + paint(Colour::yellow, "WARNING") + "  " + wrapped_from(where + warning, 11, Colour::none, paint);
    }
  }
  if (warnings > kMostLines) {
    out += "  " + paint(Colour::dim, fmt::format("{} more warnings are in results.json", warnings - kMostLines)) + "\n";
  }
  return out;
}

}  // namespace linebounce::sim
