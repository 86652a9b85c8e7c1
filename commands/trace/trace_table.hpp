// A trace for the terminal: its summary, and what its streams, objects, locks and functions do.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/terminal/terminal.hpp"
#include "trace/profile.hpp"
#include "trace/reader.hpp"

namespace linebounce::sim {

// All objects of one structure; for objects without a structure, all those with one name.
struct ObjectGroup {
  std::string name;
  std::string variable;  // of the first object
  bool has_structure = false;
  std::uint64_t objects = 0, bytes = 0;
  trace::Profile::OfObject accesses;  // summed over the objects, except `streams`, which is the maximum over them

  // As tables show it: a type that has template arguments is known by its variable, if it has only one.
  [[nodiscard]] std::string shown_name() const;
};
// The groups with the most accesses first.
std::vector<ObjectGroup> object_groups(const trace::Symbols& symbols, const trace::Profile& profile);

// The numbers of the locks that were used, the most used first.
std::vector<std::uint32_t> used_locks(const trace::Profile& profile);
std::vector<std::uint32_t> used_functions(const trace::Profile& profile);

// `most`: the most rows that each table shows.
std::string trace_tables(const trace::Reader& reader, const trace::Profile& profile, std::size_t most, const Painter& paint);

}  // namespace linebounce::sim
