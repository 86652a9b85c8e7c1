// [[layout.change]]: what an experiment does to the structures of its layout file, see configs/experiments/README.md.
#pragma once

#include <toml++/toml.h>

#include <optional>
#include <string>
#include <vector>

#include "sim/config/layout_file.hpp"
#include "sim/config/settings.hpp"

namespace linebounce::sim {

// The setting that chooses among the changes: "all", "none", or names.
inline constexpr const char* kLayoutChanges = "layout.changes";
KeyInfo layout_changes_key();

// A word of the file and where it stands.
struct PlacedName {
  std::string name;
  Origin origin;
};

struct PlacedBytes {
  int bytes;
  Origin origin;
};

struct LayoutChange {
  std::string name;  // several changes may have one; empty: only "all" chooses it
  PlacedName structure;
  std::optional<PlacedBytes> align, base_offset;
  std::vector<PlacedName> order;
  std::vector<std::vector<PlacedName>> split;  // a line each
  std::vector<PlacedName> per_cpu, read_mostly;
  std::vector<PlacedName> spread;            // arrays, a line for each element
  std::optional<PlacedBytes> element_bytes;  // of those that the file has as one field; without any: the object is the array
  std::optional<PlacedBytes> line;           // of `split` and `spread`: the size of a line, if larger than the machine's
  Origin origin;
};

// The elements of [[layout.change]], checked as far as that goes without the structures. Errors: ConfigError.
std::vector<LayoutChange> read_layout_changes(const toml::array& changes, const std::string& file);

// As they are written in a resolved configuration.
toml::array layout_changes_table(const std::vector<LayoutChange>& changes);

// Those that the setting chooses, in the file's order. Errors: ConfigError for a name that no change has.
std::vector<LayoutChange> chosen_changes(const std::vector<LayoutChange>& changes, const Setting& setting);

// The file's structures after some changes, for a machine with coherence lines of `line_bytes`. Errors: ConfigError for unknown
// structures and fields, and for what cannot be done with them.
LayoutSet changed_layouts(const LayoutFile& file, const std::vector<LayoutChange>& changes, int line_bytes);

}  // namespace linebounce::sim
