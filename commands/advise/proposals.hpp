// Proposes cures for false sharing: changes of layouts, written for an experiment and for a C programmer.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "commands/advise/false_sharing.hpp"

namespace linebounce::sim {

// What a proposal changes in the program's source.
struct LayoutEdit {
  std::uint32_t structure = trace::kNone;  // kNone: it changes an object without a structure
  // Objects with this layout; if there are many, only the first ones.
  std::vector<std::uint32_t> objects = {};
  // Arrays whose elements get separate lines, with the element size in bytes. "" is the object itself.
  std::vector<std::pair<std::string, std::int64_t>> spread = {};
  std::vector<std::vector<std::string>> split = {};  // fields that move to new lines: the fields of each line
};

struct Proposal {
  std::string name;       // of its [[layout.change]]
  std::string structure;  // the structure to change; for an object without one, the object
  std::string sentence;   // "give each element of counts a line of its own: 8 elements of 8 bytes"
  std::string change;     // [[layout.change]] as TOML
  std::string drawing;    // the changed structure as C code
  LayoutEdit edit = {};
  std::vector<std::size_t> lines;  // the lines that the proposal cures, as indices
};

// Returns the name of an object's layout in [[layout.change]].
std::string layout_name(const trace::Symbols& symbols, std::uint32_t object);

// Makes at most one proposal for each structure on these lines. Those with the most conflicting accesses come first.
// `line_bytes`: distance to keep; `pairs`: true if this is the size of a pair of lines.
std::vector<Proposal> proposals(const std::vector<FalselySharedLine>& lines, const trace::Symbols& symbols, int line_bytes,
                                bool pairs = false);

}  // namespace linebounce::sim
