#include "commands/layout/line_costs.hpp"

#include <algorithm>
#include <limits>

namespace linebounce::sim {
namespace {

// Costs are relative to the transfer of a line from another cache. The ratios are those of machines with several sockets.
constexpr double kTransfer = 1;
constexpr double kUpgrade = 0.8;  // the CPU has the data, but not the right to write it
constexpr double kFetch = 0.4;    // the data comes from memory, or from a far level of the CPU's own caches
// Added for each used line, so that the layout with fewer lines wins among equally good ones.
constexpr double kEachLine = 1e-3;

constexpr int kAbsent = std::numeric_limits<int>::max();

}  // namespace

SharedLineCosts::SharedLineCosts(const StructureAccesses& accesses, int line_bytes, std::size_t near_lines)
    : accesses_(accesses), line_bytes_(line_bytes), near_lines_(near_lines) {}

double SharedLineCosts::of(const std::vector<UnitOnLine>& line) {
  std::vector<std::pair<std::size_t, int>> key;
  for (const UnitOnLine& it : line) {
    const int end = it.begin + accesses_.units[it.unit].size();
    // The offset of a unit that lies wholly on this line does not affect the cost, so the key leaves it out.
    key.emplace_back(it.unit, it.begin >= 0 && end <= line_bytes_ ? 0 : it.begin);
  }
  std::ranges::sort(key);
  const auto known = known_.find(key);
  if (known != known_.end()) return known->second;
  const double cost = simulated(line);
  known_.emplace(std::move(key), cost);
  return cost;
}

double SharedLineCosts::simulated(const std::vector<UnitOnLine>& line) {
  std::vector<int> begins(accesses_.units.size(), kAbsent);
  for (const UnitOnLine& it : line) begins[it.unit] = it.begin;
  own_.assign(std::size_t{accesses_.objects} * static_cast<std::size_t>(accesses_.cpus), {});
  touched_.assign(accesses_.objects, {});
  written_.assign(accesses_.objects, {});
  std::vector<std::uint32_t> own_times(accesses_.cpus, 0);
  double cost = 0;
  std::uint32_t now = 0;
  for (const UnitAccess& access : accesses_.sequence) {
    ++now;
    const std::uint32_t own_time = ++own_times[access.cpu];
    const int begin = begins[access.unit];
    if (begin == kAbsent || begin + access.offset < 0 || begin + access.offset >= line_bytes_) continue;
    Own& own = own_[std::size_t{access.object} * static_cast<std::size_t>(accesses_.cpus) + access.cpu];
    const std::uint32_t foreign_write = written_[access.object].by_others(access.cpu);
    if (own.at == 0) {
      cost += foreign_write > 0 ? kTransfer : kFetch;
    } else if (foreign_write > own.at) {
      cost += kTransfer;
    } else if (own_time - own.own_time > near_lines_) {
      cost += kFetch;
    } else if (access.writes && touched_[access.object].by_others(access.cpu) > own.wrote_at) {
      cost += kUpgrade;
    }
    own.at = now;
    own.own_time = own_time;
    touched_[access.object].add(access.cpu, now);
    if (access.writes) {
      own.wrote_at = now;
      written_[access.object].add(access.cpu, now);
    }
  }
  return cost == 0 ? 0 : cost + kEachLine;
}

double SharedLineCosts::of_layout(const std::vector<int>& begins) {
  std::map<int, std::vector<UnitOnLine>> lines;
  for (std::size_t unit = 0; unit < begins.size(); ++unit) {
    if (begins[unit] < 0) continue;
    const int end = begins[unit] + accesses_.units[unit].size();
    for (int line = begins[unit] / line_bytes_; line * line_bytes_ < end; ++line)
      lines[line].push_back({unit, begins[unit] - line * line_bytes_});
  }
  double cost = 0;
  for (const auto& [number, line] : lines) cost += of(line);
  return cost;
}

}  // namespace linebounce::sim
