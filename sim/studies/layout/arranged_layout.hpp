// An arrangement of a structure's members as a change of its layout, and what lies on one line in it.
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

// `line_bytes`: objects begin at multiples of it, unless `aligns` is false. Errors: ConfigError for members that can't move.
ArrangedLayout arranged(const LayoutFile& file, const std::string& structure, const std::string& name,
                        const std::vector<std::pair<std::string, int>>& members, int line_bytes, bool aligns);

// The members of an arrangement with their offsets, in order.
std::vector<std::pair<std::string, int>> members_of(const StructureAccesses& accesses, const Arrangement& arrangement);

// The members of `layout` at the offsets that `like` gives them, and behind its end those that it lacks, which `missing`
// receives.
std::vector<std::pair<std::string, int>> members_like(const Layout& layout, const Layout& like,
                                                      std::vector<std::string>& missing);

// Two members that share a line in one layout and in another do not; at least one of them is written.
struct SharedPair {
  std::size_t one = 0, other = 0;  // units; `one` is written
};

struct LayoutDifference {
  std::vector<SharedPair> apart;     // they shared a line before
  std::vector<SharedPair> together;  // they share a line now
};

// Among touched members. `before`, `after`: offsets by unit, of objects that begin lines.
LayoutDifference difference(const StructureAccesses& accesses, const std::vector<int>& before, const std::vector<int>& after,
                            int line_bytes);

// The offset of each of the structure's units in this layout of it.
std::vector<int> begins_in(const StructureAccesses& accesses, const Layout& layout);

}  // namespace linebounce::sim
