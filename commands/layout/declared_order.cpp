#include "commands/layout/declared_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "workloads/program/layout_set.hpp"

namespace linebounce::sim {
namespace {

constexpr int kKernelLine = 64;  // SMP_CACHE_BYTES, the kernel's alignment of a group if its macro names none

// The units in the layout's order, with their offsets.
std::vector<std::pair<int, std::size_t>> placed_units(const StructureAccesses& accesses, const Layout& layout) {
  const std::vector<int> begins = begins_in(accesses, layout);
  std::vector<std::pair<int, std::size_t>> units;
  for (std::size_t unit = 0; unit < begins.size(); ++unit) units.emplace_back(begins[unit], unit);
  std::ranges::sort(units);
  return units;
}

// The functions' names as a suffix: "_receive_send". The networking paths rx and tx together are "_txrx", as in Linux.
std::string path_words(const std::set<std::string>& paths) {
  if (paths == std::set<std::string>{"rx", "tx"}) return "_txrx";
  std::string words;
  for (const std::string& path : paths) {
    if (path.find_first_of(":<>(), ") == std::string::npos && !path.empty()) words += "_" + path;
  }
  return words;
}

// "write_rx", "read_txrx". A group with any written member is "write", because "read" promises that the line can stay in
// every cache. More than three functions are not named.
std::string group_name(const StructureAccesses& accesses, const std::vector<std::size_t>& members) {
  constexpr std::size_t kMostNames = 3;
  std::set<std::string> functions;
  bool written = false;
  for (const std::size_t unit : members) {
    const UnitUse& use = accesses.uses[unit];
    written = written || use.writes() > 0;
    for (const auto* counts : {&use.readers, &use.writers}) {
      for (const auto& [name, count] : *counts) functions.insert(name);
    }
  }
  const std::string name = written ? "write" : "read";
  return functions.size() > kMostNames ? name : name + path_words(functions);
}

std::string first_name(const std::string& member) {
  return member.substr(0, member.find('|'));
}

// "u32 rcv_nxt;"; "unsigned char pacing_timer[64];" for a type that is not known.
std::string member_text(const LayoutUnit& unit, const std::map<std::string, std::string>& types) {
  const auto type = types.find(unit.name);
  if (type == types.end()) return fmt::format("unsigned char {}[{}];", first_name(unit.name), unit.size());
  return type->second + ";";
}

}  // namespace

std::vector<CachelineGroup> cacheline_groups(const StructureAccesses& accesses, const Layout& layout, int line_bytes) {
  std::vector<CachelineGroup> groups;
  std::set<std::string> names;
  for (const auto& [begin, unit] : placed_units(accesses, layout)) {
    if (accesses.uses[unit].all() == 0) continue;
    const int end = begin + accesses.units[unit].size();
    if (groups.empty() || groups.back().begin / line_bytes != begin / line_bytes)
      groups.push_back({.name = {}, .members = {}, .begin = begin, .end = end});
    groups.back().members.push_back(unit);
    groups.back().end = std::max(groups.back().end, end);
  }
  for (CachelineGroup& group : groups) {
    const std::string name = layout.name + "_" + group_name(accesses, group.members);
    group.name = name;
    for (int number = 2; !names.insert(group.name).second; ++number) group.name = fmt::format("{}_{}", name, number);
  }
  return groups;
}

std::string declaration_text(const StructureAccesses& accesses, const Layout& layout, int line_bytes,
                             const std::map<std::string, std::string>& types, const std::vector<CachelineGroup>& groups) {
  constexpr std::size_t kComment = 44;
  std::string out = fmt::format("struct {} {{\n", layout.name);
  int end = 0;
  for (const auto& [begin, unit] : placed_units(accesses, layout)) {
    const LayoutUnit& it = accesses.units[unit];
    const bool gap = begin - end >= it.alignment && begin != (end + it.alignment - 1) / it.alignment * it.alignment;
    if (begin % line_bytes == 0) out += fmt::format("\t/* line {} */\n", begin / line_bytes);
    bool is_aligned = false;
    for (const CachelineGroup& group : groups) {
      if (group.members.front() != unit) continue;
      // The gap is put in front of the group, because the group's size would include a gap inside it.
      is_aligned = gap && begin % line_bytes == 0;
      const std::string size = is_aligned && line_bytes != kKernelLine ? fmt::format(", {}", line_bytes) : "";
      out += fmt::format("\t__cacheline_group_begin{}({}{});\n", is_aligned ? "_aligned" : "", group.name, size);
    }
    std::string text = "\t";
    if (gap && begin % line_bytes == 0 && !is_aligned) {
      text += fmt::format("__attribute__((aligned({}))) ", line_bytes);
    } else if (gap && !is_aligned) {
      out += fmt::format("\tunsigned char __gap_{}[{}];\n", end, begin - end);
    }
    text += member_text(it, types);
    if (text.size() < kComment) text.append(kComment - text.size(), ' ');
    out += fmt::format("{} /* {:5} {:5}  {} */\n", text, begin, it.size(), users_text(accesses.uses[unit]));
    for (const CachelineGroup& group : groups) {
      if (group.members.back() == unit) out += fmt::format("\t__cacheline_group_end({});\n", group.name);
    }
    end = begin + it.size();
  }
  return out + "};\n";
}

std::string assertions_text(const StructureAccesses& accesses, const Layout& layout,
                            const std::map<std::string, std::string>& types, const std::vector<CachelineGroup>& groups) {
  std::string out;
  for (const CachelineGroup& group : groups) {
    for (const std::size_t unit : group.members) {
      const auto type = types.find(accesses.units[unit].name);
      if (type != types.end() && type->second.find(':') != std::string::npos) continue;
      out += fmt::format("CACHELINE_ASSERT_GROUP_MEMBER(struct {}, {}, {});\n", layout.name, group.name,
                         first_name(accesses.units[unit].name));
    }
    out += fmt::format("CACHELINE_ASSERT_GROUP_SIZE(struct {}, {}, {});\n", layout.name, group.name, group.end - group.begin);
  }
  return out;
}

}  // namespace linebounce::sim
