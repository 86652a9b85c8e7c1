// What could be done about false sharing: changes of layouts, as an experiment and as a C programmer makes them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/studies/advice/false_sharing.hpp"

namespace linebounce::sim {

// What of the program's source a proposal is about.
struct LayoutEdit {
  std::uint32_t structure = trace::kNone;                         // kNone: of an object without structure
  std::vector<std::uint32_t> objects = {};                        // that have the layout, or some of many
  std::vector<std::pair<std::string, std::int64_t>> spread = {};  // arrays, and the bytes of an element; "": the object itself
  std::vector<std::vector<std::string>> split = {};               // fields that move, those of one line together
};

struct Proposal {
  std::string name;       // of its [[layout.change]]
  std::string structure;  // that it changes; of an object without structure: the object
  std::string sentence;   // "give each element of counts a line of its own: 8 elements of 8 bytes"
  std::string change;     // [[layout.change]] as TOML
  std::string drawing;    // the structure as it would be, in C
  LayoutEdit edit = {};
  std::vector<std::size_t> lines;  // that it is for, by their place in the list
};

// The name under which [[layout.change]] knows an object's layout.
std::string layout_name(const trace::Symbols& symbols, std::uint32_t object);

// For each structure on these lines at most one, that with most disturbed accesses first.
// `pairs`: `line_bytes` are those of a pair of lines.
std::vector<Proposal> proposals(const std::vector<FalselySharedLine>& lines, const trace::Symbols& symbols, int line_bytes,
                                bool pairs = false);

}  // namespace linebounce::sim
