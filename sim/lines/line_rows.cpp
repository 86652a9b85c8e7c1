#include "sim/lines/line_rows.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

namespace linebounce::sim {
namespace {

using LineKey = std::tuple<std::string, std::string, std::int64_t>;              // structure, object, number
using UseKey = std::tuple<std::int64_t, std::string, std::string, std::string>;  // offset, field, function, access

struct Gathered {
  MissSum misses;
  std::optional<std::int64_t> home;
  bool several_homes = false;
  std::map<UseKey, MissSum> uses;
};

Line finished(const LineKey& key, const Gathered& gathered) {
  Line line;
  std::tie(line.structure, line.object, line.number) = key;
  if (!gathered.several_homes) line.home = gathered.home;
  line.misses = gathered.misses;
  for (const auto& [use, misses] : gathered.uses) {
    line.uses.push_back({std::get<0>(use), std::get<1>(use), std::get<2>(use), std::get<3>(use), misses});
  }
  std::set<std::string> functions;
  for (const LineUse& use : line.uses) functions.insert(use.function);
  line.code_places = std::ssize(functions);
  std::ranges::stable_sort(line.uses, {}, [](const LineUse& use) { return std::tuple(use.offset, -use.misses.count); });
  return line;
}

}  // namespace

void MissSum::add(const LineRow& row) {
  const auto weight = static_cast<double>(row.count);
  count += row.count;
  remote += weight * row.remote_pct / 100;
  latency_ns += weight * row.latency_ns_mean;
  (row.access == "load" ? loads : stores) += row.count;
  if (row.source == "local_c2c") local_hitm += row.count;
  if (row.source == "remote_c2c") remote_hitm += row.count;
  cpus |= row.cpus;
  is_split = is_split && row.waits.has_value();
  if (!row.waits) return;
  for (std::size_t resource = 0; resource < waits_ns.size(); ++resource) waits_ns[resource] += weight * row.waits->ns[resource];
}

double MissSum::queueing_ns() const {
  return std::accumulate(waits_ns.begin(), waits_ns.end(), 0.0);
}

bool is_sampled(const LineRow& row) {
  const bool access = row.access == "load" || row.access == "atomic";
  return access && (row.source == "local_c2c" || row.source == "remote_c2c");
}

LineSet lines_of(const std::vector<LineRow>& rows, const LineChoice& choice) {
  LineSet set;
  std::map<LineKey, Gathered> lines;
  for (const LineRow& row : rows) {
    if (choice.as_sampled && !is_sampled(row)) continue;
    set.all.add(row);
    if (row.field == "[]") {
      set.arrays.add(row);
      continue;
    }
    Gathered& line = lines[{row.structure, choice.sum ? "" : row.object, row.line}];
    line.misses.add(row);
    line.several_homes = line.several_homes || (line.home && *line.home != row.home);
    line.home = row.home;
    line.uses[{row.offset, row.field, row.function, row.access}].add(row);
  }
  for (const auto& [key, line] : lines) set.lines.push_back(finished(key, line));
  std::ranges::stable_sort(set.lines, [&set](const Line& a, const Line& b) {
    return set.all.is_split ? a.misses.latency_ns > b.misses.latency_ns : a.number < b.number;
  });
  return set;
}

int costliest_point(const std::map<int, std::vector<LineRow>>& points) {
  int worst = 0;
  double most = 0;
  for (const auto& [number, rows] : points) {
    MissSum all;
    for (const LineRow& row : rows) all.add(row);
    if (all.latency_ns <= most) continue;
    worst = number;
    most = all.latency_ns;
  }
  return worst;
}

}  // namespace linebounce::sim
