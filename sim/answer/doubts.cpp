#include "sim/answer/doubts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "sim/answer/quantity.hpp"
#include "sim/results/run_health.hpp"

namespace linebounce::sim {
namespace {

constexpr std::size_t kMostDetails = 3;  // most rows of points that a sentence lists in detail
constexpr std::size_t kMostPlaces = 8;

struct Found {
  const ReportedPoint* point;
  HealthFinding finding;
};

// "ttas at 4, 16 and 32 CPUs; tas at 32 CPUs".
std::string places_text(const std::vector<Found>& found, Roles roles) {
  const std::optional<VariedAxis> over = std::exchange(roles.over, std::nullopt);
  // keys: the point's values except the position along the sweep
  std::vector<std::pair<std::string, std::vector<const ReportedPoint*>>> rows;
  for (const Found& one : found) {
    const std::string name = point_words(*one.point, roles);
    const auto known = std::ranges::find(rows, name, [](const auto& row) { return row.first; });
    if (known == rows.end())
      rows.emplace_back(name, std::vector{one.point});
    else
      known->second.push_back(one.point);
  }
  std::vector<std::string> texts;
  for (const auto& [name, points] : rows) {
    if (!over) {
      texts.push_back(name);
      continue;
    }
    std::vector<std::string> places;
    for (const ReportedPoint* point : points) places.push_back(value_name(*value_at(*point, over->path)));
    const ConfigValue& last = *value_at(*points.back(), over->path);
    const bool cpus = over->path == kCpusPath;
    if (cpus) places.back() = place_name(*over, last);
    const std::string row = cpus ? enumeration(places) : short_path(over->path, {over->path}) + " = " + enumeration(places);
    texts.push_back((name.empty() ? "" : name + " ") + "at " + row);
  }
  if (texts.size() > kMostPlaces) {
    const std::size_t more = texts.size() - kMostPlaces;
    texts.resize(kMostPlaces);
    texts.push_back(fmt::format("{} more", more));
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

std::string sentence_of(const std::vector<Found>& found, const Roles& roles) {
  if (found.size() == 1) {
    const std::string place = point_words(*found.front().point, roles);
    return (place.empty() ? "" : place + ": ") + found.front().finding.text;
  }
  if (found.size() > kMostDetails) return places_text(found, roles) + ": " + found.front().finding.in_general;
  std::vector<std::string> places;
  for (const Found& one : found) places.push_back(fmt::format("{} ({})", point_words(*one.point, roles), one.finding.detail));
  return enumeration(places) + ": " + found.front().finding.in_general;
}

}  // namespace

std::vector<std::string> doubts_of(const std::vector<ReportedPoint>& points, const Roles& roles) {
  // The kinds of doubt, ordered by importance, as in each point's own list.
  std::vector<std::pair<std::string, std::vector<Found>>> kinds;
  for (const ReportedPoint& point : points) {
    for (const HealthFinding& finding : health_findings(point)) {
      const auto known = std::ranges::find(kinds, finding.in_general, [](const auto& kind) { return kind.first; });
      if (known == kinds.end()) {
        kinds.emplace_back(finding.in_general, std::vector<Found>{{&point, finding}});
      } else {
        known->second.push_back({&point, finding});
      }
    }
  }
  std::ranges::stable_sort(kinds, {}, [](const auto& kind) { return kind.second.front().finding.rank; });
  std::vector<std::string> doubts;
  for (const auto& [kind, found] : kinds) doubts.push_back(sentence_of(found, roles));
  return doubts;
}

}  // namespace linebounce::sim
