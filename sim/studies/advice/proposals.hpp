// Remedies for false sharing: changes of layouts, for an experiment and for a C programmer.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/studies/advice/false_sharing.hpp"

namespace linebounce::sim {

// The part of the program's source that a proposal is about.
struct LayoutEdit {
  std::uint32_t structure = trace::kNone;  // kNone: an object without structure
  // Objects with this layout; only the first ones if there are many.
  std::vector<std::uint32_t> objects = {};
  // Arrays to spread, each with its element size; "" is the object itself.
  std::vector<std::pair<std::string, std::int64_t>> spread = {};
  std::vector<std::vector<std::string>> split = {};  // fields that move, grouped by line
};

struct Proposal {
  std::string name;       // of its [[layout.change]]
  std::string structure;  // the structure to change, or an object without structure
  std::string sentence;   // "give each element of counts a line of its own: 8 elements of 8 bytes"
  std::string change;     // [[layout.change]] as TOML
  std::string drawing;    // the changed structure in C
  LayoutEdit edit = {};
  std::vector<std::size_t> lines;  // indices of the lines that it addresses
};

// The name of an object's layout in [[layout.change]].
std::string layout_name(const trace::Symbols& symbols, std::uint32_t object);

// At most one proposal for each structure on these lines; those with the most conflicting accesses come first. `pairs`: true
// if `line_bytes` is the size of a pair of lines.
std::vector<Proposal> proposals(const std::vector<FalselySharedLine>& lines, const trace::Symbols& symbols, int line_bytes,
                                bool pairs = false);

}  // namespace linebounce::sim
