// Measures how far Lua searches in a program's tables for a key, which a count of instructions does not show.
//
// Lua keeps the keys that do not count on from 1 in a table's hash part: an array of nodes whose size is a power of two. Keys
// that fall on one node form a chain, and a look-up walks it. Programs can choose numbers that all fall on one node. An
// instruction then takes as long as a million others, and one that makes the table grow, which enters all keys anew, takes
// minutes.
//
// Lua's interface shows no chains, so this class takes samples of the nodes in the interpreter's memory. Tables whose keys are
// numbers are measured the same in every run. Lua places texts by a seed of its own; a table that has both may differ a little.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace linebounce::workloads {

class HashParts {
 public:
  // Notes a new block that Lua allocated for an array. Returns the steps that entering the known tables' keys into it would
  // take, beyond one step for each key; 0 if it is no hash part, or a small one.
  std::int64_t allocated(const std::byte* block, std::size_t bytes);
  void freed(const std::byte* block, std::size_t bytes);
  // Looks at some of the nodes, and returns the length of the longest chain seen since the last hash part was freed.
  std::int64_t longest_chain();

 private:
  struct Part {
    const std::byte* nodes;
    std::uint64_t size;  // the number of nodes
  };
  // The place of a node among those of all parts.
  struct Place {
    const Part* part;
    std::uint64_t node;
  };
  [[nodiscard]] Place next_place();

  std::vector<Part> parts_;
  std::uint64_t nodes_ = 0;  // in all parts
  std::uint64_t samples_ = 0;
  std::int64_t longest_ = 0;
};

}  // namespace linebounce::workloads
