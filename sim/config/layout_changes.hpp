// [[layout.change]]: an experiment's changes to the structures of its layout file. Described in
// configs/experiments/README.md.
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

// A word of the file with its position.
struct PlacedName {
  std::string name;
  Origin origin;
};

struct PlacedBytes {
  int bytes;
  Origin origin;
};

struct LayoutChange {
  std::string name;  // several changes may share it; a change without a name is only chosen by "all"
  PlacedName structure;
  std::optional<PlacedBytes> align, base_offset;
  std::vector<PlacedName> order;
  std::vector<PlacedBytes> at;                 // the offsets of the members in `order`; empty: each follows the one before
  std::vector<std::vector<PlacedName>> split;  // each entry is moved to a line of its own
  std::vector<PlacedName> per_cpu, read_mostly;
  std::vector<PlacedName> spread;  // arrays whose elements each get a line of their own
  // for arrays that are one field in the file; if no array is named, the object itself is the array
  std::optional<PlacedBytes> element_bytes;
  std::optional<PlacedBytes> line;  // for `split` and `spread`: the line size, if larger than the machine's
  Origin origin;
};

// The elements of [[layout.change]], checked as far as possible without the structures. Errors: ConfigError.
std::vector<LayoutChange> read_layout_changes(const toml::array& changes, const std::string& file);

// As written in a resolved configuration.
toml::array layout_changes_table(const std::vector<LayoutChange>& changes);

// The changes that the setting chooses, in the file's order. Errors: ConfigError for an unknown name.
std::vector<LayoutChange> chosen_changes(const std::vector<LayoutChange>& changes, const Setting& setting);

// The file's structures after the chosen changes. `line_bytes`: the machine's coherence line. Errors: ConfigError for unknown
// structures and fields, and for impossible changes.
LayoutSet changed_layouts(const LayoutFile& file, const std::vector<LayoutChange>& changes, int line_bytes);

}  // namespace linebounce::sim
