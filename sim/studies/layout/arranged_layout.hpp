// Turns an arrangement of a structure's members into a change of its layout, and compares which members share lines.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/config/layout_file.hpp"
#include "sim/studies/layout/layout_search.hpp"

namespace linebounce::sim {

struct ArrangedLayout {
  std::string name;    // of its [[layout.change]]
  std::string change;  // as TOML
  Layout layout;       // the structure after it
};

// `line_bytes`: objects begin at multiples of this, unless `aligns` is false. Errors: ConfigError for members that can't be
// moved.
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
  std::vector<SharedPair> apart;     // they shared a line before
  std::vector<SharedPair> together;  // they share a line now
};

// Compares touched members. `before`, `after`: the offset of each unit, for objects that begin at a line.
LayoutDifference difference(const StructureAccesses& accesses, const std::vector<int>& before, const std::vector<int>& after,
                            int line_bytes);

// The offset of each of the structure's units in this layout of it.
std::vector<int> begins_in(const StructureAccesses& accesses, const Layout& layout);

}  // namespace linebounce::sim
