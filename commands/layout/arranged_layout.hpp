// Turns an arrangement of a structure's members into a [[layout.change]], and compares which members share lines.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "commands/layout/layout_search.hpp"
#include "sim/config/layout_file.hpp"

namespace linebounce::sim {

struct ArrangedLayout {
  std::string name;    // of its [[layout.change]]
  std::string change;  // as TOML
  Layout layout;       // the structure after it
};

// `members`: names and offsets, in order. `line_bytes`: objects begin at multiples of this, unless `aligns` is false. Errors:
// ConfigError for members that can't be moved.
ArrangedLayout arranged(const LayoutFile& file, const std::string& structure, const std::string& name,
                        const std::vector<std::pair<std::string, int>>& members, int line_bytes, bool aligns);

// The members of an arrangement with their offsets, in order.
std::vector<std::pair<std::string, int>> members_of(const StructureAccesses& accesses, const Arrangement& arrangement);

// The members of `layout` at the offsets that they have in `like`. Members that `like` lacks follow after its end; `missing`
// receives their names.
std::vector<std::pair<std::string, int>> members_like(const Layout& layout, const Layout& like,
                                                      std::vector<std::string>& missing);

// Two members that share a line in one of two layouts but not in the other. At least one of them is written.
struct SharedPair {
  std::size_t one = 0, other = 0;  // units; `one` is written
};

struct LayoutDifference {
  std::vector<SharedPair> apart;     // pairs that shared a line only before the change
  std::vector<SharedPair> together;  // pairs that share a line only after the change
};

// Compares which touched members share lines. `before`, `after`: the offset of each unit. Objects begin at a line.
LayoutDifference difference(const StructureAccesses& accesses, const std::vector<int>& before, const std::vector<int>& after,
                            int line_bytes);

// The offset of each unit of the structure in this layout.
std::vector<int> begins_in(const StructureAccesses& accesses, const Layout& layout);

}  // namespace linebounce::sim
