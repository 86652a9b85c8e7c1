#include "commands/layout/arranged_layout.hpp"

#include <toml++/toml.h>

#include <algorithm>

#include "sim/config/layout_changes.hpp"
#include "sim/config/toml_text.hpp"
#include "workloads/program/layout_set.hpp"

namespace linebounce::sim {
namespace {

int rounded_up(int bytes, int step) {
  return (bytes + step - 1) / step * step;
}

bool share_a_line(const LayoutUnit& one, int one_begin, const LayoutUnit& other, int other_begin, int line) {
  const int one_last = (one_begin + one.size() - 1) / line, other_last = (other_begin + other.size() - 1) / line;
  return one_begin / line <= other_last && other_begin / line <= one_last;
}

}  // namespace

ArrangedLayout arranged(const LayoutFile& file, const std::string& structure, const std::string& name,
                        const std::vector<std::pair<std::string, int>>& members, int line_bytes, bool aligns) {
  toml::array order, offsets;
  for (const auto& [member, begin] : members) {
    order.push_back(member);
    offsets.push_back(std::int64_t{begin});
  }
  toml::table change{{"name", name}, {"structure", structure}};
  if (aligns) change.insert("align_bytes", std::int64_t{line_bytes});
  change.insert("order", std::move(order));
  change.insert("at_bytes", std::move(offsets));
  const toml::array all{change};
  ArrangedLayout out{.name = name, .change = "[[layout.change]]\n" + to_toml(change) + "\n", .layout = {}};
  out.layout = changed_layouts(file, read_layout_changes(all, name), line_bytes).find(structure);
  return out;
}

std::vector<std::pair<std::string, int>> members_of(const StructureAccesses& accesses, const Arrangement& arrangement) {
  std::vector<std::pair<std::string, int>> members;
  for (const std::size_t unit : arrangement.order) members.emplace_back(accesses.units[unit].name, arrangement.begins[unit]);
  return members;
}

std::vector<std::pair<std::string, int>> members_like(const Layout& layout, const Layout& like,
                                                      std::vector<std::string>& missing) {
  const std::vector<LayoutUnit> units = units_of(layout), targets = units_of(like);
  std::vector<std::pair<std::string, int>> members;
  std::vector<const LayoutUnit*> behind;
  for (const LayoutUnit& unit : units) {
    const auto target = std::ranges::find_if(
        targets, [&unit](const LayoutUnit& it) { return is_called(it.name, unit.name) || is_called(unit.name, it.name); });
    if (target == targets.end()) {
      missing.push_back(unit.name);
      behind.push_back(&unit);
    } else {
      members.emplace_back(unit.name, target->begin);
    }
  }
  std::ranges::stable_sort(members, {}, &std::pair<std::string, int>::second);
  int end = like.size;
  for (const LayoutUnit* unit : behind) {
    end = rounded_up(end, unit->alignment);
    members.emplace_back(unit->name, end);
    end += unit->size();
  }
  return members;
}

LayoutDifference difference(const StructureAccesses& accesses, const std::vector<int>& before, const std::vector<int>& after,
                            int line_bytes) {
  LayoutDifference found;
  for (std::size_t one = 0; one < accesses.units.size(); ++one) {
    for (std::size_t other = 0; other < accesses.units.size(); ++other) {
      const UnitUse &a = accesses.uses[one], &b = accesses.uses[other];
      const bool both_written = b.writes() > 0;
      if (one == other || a.writes() == 0 || b.all() == 0 || (both_written && other < one)) continue;
      const bool was = share_a_line(accesses.units[one], before[one], accesses.units[other], before[other], line_bytes);
      const bool is = share_a_line(accesses.units[one], after[one], accesses.units[other], after[other], line_bytes);
      if (was && !is) found.apart.push_back({one, other});
      if (is && !was) found.together.push_back({one, other});
    }
  }
  return found;
}

std::vector<int> begins_in(const StructureAccesses& accesses, const Layout& layout) {
  std::vector<int> begins;
  for (const LayoutUnit& unit : accesses.units) {
    int begin = layout.size;
    for (const Field& field : layout.fields) {
      if (group_of(field.name) == unit.name) begin = std::min(begin, field.offset);
    }
    begins.push_back(begin);
  }
  return begins;
}

}  // namespace linebounce::sim
