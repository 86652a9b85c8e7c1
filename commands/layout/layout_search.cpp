#include "commands/layout/layout_search.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace linebounce::sim {
namespace {

// A member with less than this share of the most used member's accesses counts as hardly used: it is only initialised, or
// read at the end.
constexpr double kHardly = 0.002;
// Smallest gain for which a member is moved, as a share of the total cost.
constexpr double kGain = 1e-4;
constexpr int kMostSweeps = 8;

int round_up_to(int bytes, int step) {
  return (bytes + step - 1) / step * step;
}

}  // namespace

LayoutSearch::LayoutSearch(const StructureAccesses& accesses, SharedLineCosts& costs, const LayoutLimits& limits,
                           std::size_t most_exact)
    : accesses_(accesses), costs_(costs), limits_(limits), most_exact_(most_exact) {
  divide_units();
}

void LayoutSearch::divide_units() {
  std::int64_t most = 0;
  for (const UnitUse& use : accesses_.uses) most = std::max(most, use.all());
  const int line = costs_.line_bytes();
  for (std::size_t i = 0; i < accesses_.units.size(); ++i) {
    const LayoutUnit& unit = accesses_.units[i];
    const bool hot = static_cast<double>(accesses_.uses[i].all()) > kHardly * static_cast<double>(most);
    if (unit.begin < limits_.keep_first) {
      kept_.push_back(i);
    } else if (!hot) {
      rest_.push_back(i);
    } else {
      (unit.size() <= line ? touched_ : large_).push_back(i);
    }
  }
  const auto add_lines = [&](std::size_t unit, int begin, std::size_t first) {
    const int end = begin + accesses_.units[unit].size();
    for (int at = begin / line; at * line < end; ++at) {
      const std::size_t index = first + static_cast<std::size_t>(at);
      if (fixed_.size() <= index) fixed_.resize(index + 1);
      fixed_[index].pinned.push_back({unit, begin - at * line});
      fixed_[index].used = std::max(fixed_[index].used, std::min(end - at * line, line));
    }
  };
  for (const std::size_t unit : kept_) add_lines(unit, accesses_.units[unit].begin, 0);
  for (const std::size_t unit : large_) add_lines(unit, 0, fixed_.size());
}

std::vector<std::size_t> LayoutSearch::packed(const Bin& bin) const {
  std::vector<std::size_t> order = bin.units;
  // Descending alignment leaves no gaps between members.
  std::ranges::stable_sort(order, [this](std::size_t a, std::size_t b) {
    const LayoutUnit &one = accesses_.units[a], &other = accesses_.units[b];
    return one.alignment != other.alignment ? one.alignment > other.alignment : one.begin < other.begin;
  });
  return order;
}

bool LayoutSearch::fits(const Bin& bin) const {
  int end = bin.used;
  for (const std::size_t unit : packed(bin)) {
    const LayoutUnit& it = accesses_.units[unit];
    end = round_up_to(end, it.alignment) + it.size();
  }
  return end <= costs_.line_bytes();
}

bool LayoutSearch::fits_with(Bin bin, std::size_t unit) const {
  bin.units.push_back(unit);
  return fits(bin);
}

double LayoutSearch::cost(const Bin& bin) {
  std::vector<UnitOnLine> line = bin.pinned;
  for (const std::size_t unit : bin.units) line.push_back({unit, 0});
  return costs_.of(line);
}

double LayoutSearch::cost(const Bins& bins) {
  double sum = 0;
  for (const Bin& bin : bins) sum += cost(bin);
  return sum;
}

Arrangement LayoutSearch::present() {
  Arrangement now;
  now.size = accesses_.layout.size;
  for (std::size_t i = 0; i < accesses_.units.size(); ++i) {
    now.order.push_back(i);
    now.begins.push_back(accesses_.units[i].begin);
  }
  now.cost = costs_.of_layout(now.begins);
  return now;
}

Arrangement LayoutSearch::apart() {
  return realised(single_lines());
}

Arrangement LayoutSearch::by_role() {
  Bins bins = fixed_;
  const auto first_of_read = static_cast<std::ptrdiff_t>(bins.size());
  for (const std::size_t unit : touched_) {
    const UnitUse& use = accesses_.uses[unit];
    if (static_cast<double>(use.writes()) > kHardly * static_cast<double>(use.all())) continue;
    const auto bin = std::find_if(bins.begin() + first_of_read, bins.end(), [&](const Bin& it) { return fits_with(it, unit); });
    if (bin == bins.end()) {
      bins.push_back({.pinned = {}, .units = {unit}});
    } else {
      bin->units.push_back(unit);
    }
  }
  for (const std::size_t unit : touched_) {
    const bool is_read =
        std::ranges::any_of(bins, [unit](const Bin& bin) { return std::ranges::find(bin.units, unit) != bin.units.end(); });
    if (!is_read) bins.push_back({.pinned = {}, .units = {unit}});
  }
  return realised(std::move(bins));
}

std::vector<Arrangement> LayoutSearch::find() {
  const Arrangement now = present();
  const bool by_subsets = fixed_.empty() && touched_.size() <= most_exact_;
  std::vector<Arrangement> found;
  for (const Bins& bins : by_subsets ? exact() : merged()) {
    Arrangement one = realised(bins);
    one.exact = by_subsets;
    const bool small = !limits_.max_size || one.size <= *limits_.max_size;
    if (small && one.cost < now.cost * (1 - kGain)) found.push_back(std::move(one));
  }
  std::ranges::stable_sort(found, {}, &Arrangement::cost);
  return found;
}

// For each number of lines, the cheapest division of all members, computed from the cheapest divisions of subsets.
std::vector<LayoutSearch::Bins> LayoutSearch::exact() {
  const std::size_t count = touched_.size();
  const std::size_t all = (std::size_t{1} << count) - 1;
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const auto bin_of = [this, count](std::size_t subset) {
    Bin bin;
    for (std::size_t i = 0; i < count; ++i) {
      if ((subset >> i & 1) != 0) bin.units.push_back(touched_[i]);
    }
    return bin;
  };
  std::vector<double> single(all + 1, kNever);
  for (std::size_t subset = 1; subset <= all; ++subset) {
    const Bin bin = bin_of(subset);
    if (fits(bin)) single[subset] = cost(bin);
  }
  std::vector<Bins> found;
  std::vector<std::vector<std::size_t>> parts;  // by number of lines: for each subset, the members on its last line
  std::vector<double> before = single;
  parts.emplace_back(all + 1);
  std::iota(parts.back().begin(), parts.back().end(), 0);
  for (std::size_t lines = 1;; ++lines) {
    if (before[all] != kNever) {
      Bins bins;
      for (std::size_t subset = all, k = lines; subset != 0; --k) {
        const std::size_t part = parts[k - 1][subset];
        bins.push_back(bin_of(part));
        subset &= ~part;
      }
      found.push_back(std::move(bins));
    }
    if (lines == count) return found;
    std::vector<double> now(all + 1, kNever);
    parts.emplace_back(all + 1);
    for (std::size_t subset = 1; subset <= all; ++subset) {
      const std::size_t lowest = subset & (~subset + 1);
      const std::size_t others = subset & ~lowest;
      // The last line always contains the subset's first unit, so that each division is considered only once.
      for (std::size_t more = others;; more = (more - 1) & others) {
        const std::size_t part = more | lowest;
        if (part != subset && single[part] + before[subset & ~part] < now[subset]) {
          now[subset] = single[part] + before[subset & ~part];
          parts.back()[subset] = part;
        }
        if (more == 0) break;
      }
    }
    before = std::move(now);
  }
}

LayoutSearch::Bins LayoutSearch::single_lines() const {
  Bins bins = fixed_;
  for (const std::size_t unit : touched_) bins.push_back({.pinned = {}, .units = {unit}});
  return bins;
}

// Begins with one line per member and repeatedly merges the two lines whose merging costs least. Then improves the divisions
// with the few most promising numbers of lines.
std::vector<LayoutSearch::Bins> LayoutSearch::merged() {
  constexpr std::size_t kWorthTrying = 6;
  Bins bins = single_lines();
  std::vector<Bins> steps = {bins};
  while (merge_best(bins)) steps.push_back(bins);
  std::ranges::reverse(steps);
  std::vector<std::pair<double, std::size_t>> by_cost;
  for (std::size_t i = 0; i < steps.size(); ++i) by_cost.emplace_back(cost(steps[i]), i);
  std::ranges::sort(by_cost);
  std::vector<std::size_t> chosen = {0, 1, 2};  // the fewest lines, and
  for (const auto& [price, step] : by_cost) {   // the cheapest
    if (chosen.size() < kWorthTrying && std::ranges::find(chosen, step) == chosen.end()) chosen.push_back(step);
  }
  std::vector<Bins> found;
  for (const std::size_t step : chosen) {
    if (step >= steps.size()) continue;
    improve(steps[step]);
    found.push_back(steps[step]);
  }
  return found;
}

bool LayoutSearch::merge_best(Bins& bins) {
  double least = std::numeric_limits<double>::infinity();
  std::pair<std::size_t, std::size_t> best;
  for (std::size_t a = 0; a < bins.size(); ++a) {
    for (std::size_t b = a + 1; b < bins.size() && !bins[a].units.empty(); ++b) {
      if (bins[b].units.empty() || !bins[b].pinned.empty()) continue;
      Bin both = bins[a];
      both.units.insert(both.units.end(), bins[b].units.begin(), bins[b].units.end());
      if (!fits(both)) continue;
      const double more = cost(both) - cost(bins[a]) - cost(bins[b]);
      if (more < least) {
        least = more;
        best = {a, b};
      }
    }
    // Instead of a merge, all members of another line may move to a line that has only pinned members.
    for (std::size_t b = 0; b < bins.size() && bins[a].units.empty(); ++b) {
      if (b == a || !bins[b].pinned.empty()) continue;
      Bin both = bins[a];
      both.units = bins[b].units;
      if (!fits(both)) continue;
      const double more = cost(both) - cost(bins[a]) - cost(bins[b]);
      if (more < least) {
        least = more;
        best = {a, b};
      }
    }
  }
  if (least == std::numeric_limits<double>::infinity()) return false;
  Bin& into = bins[best.first];
  into.units.insert(into.units.end(), bins[best.second].units.begin(), bins[best.second].units.end());
  bins.erase(bins.begin() + static_cast<std::ptrdiff_t>(best.second));
  return true;
}

void LayoutSearch::improve(Bins& bins) {
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    const bool moved = move_one(bins);
    const bool swapped = swap_one(bins);
    if (!moved && !swapped) return;
  }
}

// Moves a member to the line where it costs least. Never empties a line, because the number of lines is fixed.
bool LayoutSearch::move_one(Bins& bins) {
  bool any = false;
  const double enough = kGain * cost(bins);
  for (const std::size_t unit : touched_) {
    const auto from =
        std::ranges::find_if(bins, [unit](const Bin& bin) { return std::ranges::find(bin.units, unit) != bin.units.end(); });
    if (from->units.size() == 1 && from->pinned.empty()) continue;
    Bin without = *from;
    std::erase(without.units, unit);
    const double freed = cost(*from) - cost(without);
    Bin* best = nullptr;
    double gain = enough;
    for (Bin& to : bins) {
      if (&to == &*from || !fits_with(to, unit)) continue;
      Bin with = to;
      with.units.push_back(unit);
      const double here = freed - (cost(with) - cost(to));
      if (here > gain) {
        gain = here;
        best = &to;
      }
    }
    if (best == nullptr) continue;
    *from = std::move(without);
    best->units.push_back(unit);
    any = true;
  }
  return any;
}

// Swaps two members of different lines if that costs less.
bool LayoutSearch::swap_one(Bins& bins) {
  bool any = false;
  const double enough = kGain * cost(bins);
  for (std::size_t a = 0; a < bins.size(); ++a) {
    for (std::size_t b = a + 1; b < bins.size(); ++b) {
      for (std::size_t i = 0; i < bins[a].units.size(); ++i) {
        for (std::size_t k = 0; k < bins[b].units.size(); ++k) {
          Bin one = bins[a], other = bins[b];
          std::swap(one.units[i], other.units[k]);
          if (!fits(one) || !fits(other)) continue;
          if (cost(bins[a]) + cost(bins[b]) - cost(one) - cost(other) <= enough) continue;
          bins[a] = std::move(one);
          bins[b] = std::move(other);
          any = true;
        }
      }
    }
  }
  return any;
}

// The unit that decides the line's place in the order. It is the same for all lines of a large member, which keeps them
// together.
std::size_t LayoutSearch::first_unit(const Bin& bin) {
  if (!bin.pinned.empty()) return bin.pinned.front().unit;
  return bin.units.empty() ? 0 : *std::ranges::min_element(bin.units);
}

// Turns a division into an arrangement. Orders the lines by the present order of their first members, puts hardly used
// members into the gaps, and the remaining ones at the end.
Arrangement LayoutSearch::realised(Bins bins) {
  const int line = costs_.line_bytes();
  const auto is_kept = [this](const Bin& bin) {
    return std::ranges::any_of(bin.pinned,
                               [this](const UnitOnLine& it) { return std::ranges::find(kept_, it.unit) != kept_.end(); });
  };
  // Lines of kept members come first already.
  const auto movable = std::ranges::find_if_not(bins, is_kept);
  std::stable_sort(movable, bins.end(), [](const Bin& a, const Bin& b) { return first_unit(a) < first_unit(b); });
  Arrangement out;
  out.begins.assign(accesses_.units.size(), -1);
  std::vector<std::size_t> waiting = rest_;
  std::ranges::stable_sort(waiting, std::ranges::greater{}, [this](std::size_t unit) { return accesses_.units[unit].size(); });
  int end = 0;
  const auto put = [&](std::size_t unit, int begin) {
    if (out.begins[unit] < 0) out.order.push_back(unit);
    out.begins[unit] = begin;
    end = std::max(end, begin + accesses_.units[unit].size());
  };
  for (std::size_t i = 0; i < bins.size(); ++i) {
    const int start = static_cast<int>(i) * line;
    for (const UnitOnLine& it : bins[i].pinned) {
      if (it.begin >= 0) put(it.unit, start + it.begin);
    }
    end = std::max(end, start + bins[i].used);
    for (const std::size_t unit : packed(bins[i])) put(unit, round_up_to(end, accesses_.units[unit].alignment));
    // Hardly used members fill the free bytes of every line but the last.
    const bool fills = i + 1 < bins.size() && !limits_.cold_half;
    for (auto it = waiting.begin(); it != waiting.end() && fills;) {
      const LayoutUnit& unit = accesses_.units[*it];
      const int begin = round_up_to(end, unit.alignment);
      if (begin + unit.size() <= start + line) {
        put(*it, begin);
        it = waiting.erase(it);
      } else {
        ++it;
      }
    }
  }
  std::ranges::sort(waiting);
  if (limits_.cold_half && !waiting.empty()) end = round_up_to(end, line);
  for (const std::size_t unit : waiting) put(unit, round_up_to(end, accesses_.units[unit].alignment));
  std::ranges::stable_sort(out.order, {}, [&out](std::size_t unit) { return out.begins[unit]; });
  int alignment = 1;
  for (const LayoutUnit& unit : accesses_.units) alignment = std::max(alignment, unit.alignment);
  out.size = round_up_to(end, std::max(alignment, accesses_.layout.alignment % line == 0 ? line : 1));
  out.cost = costs_.of_layout(out.begins);
  return out;
}

}  // namespace linebounce::sim
