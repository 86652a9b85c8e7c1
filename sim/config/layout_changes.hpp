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

// The setting that selects which changes apply: "all", "none", or a list of names.
inline constexpr const char* kLayoutChanges = "layout.changes";
KeyInfo layout_changes_key();

// A field's or structure's name as the experiment's file has it, with its position.
struct PlacedName {
  std::string name;
  Origin origin;
};

struct PlacedBytes {
  int bytes;
  Origin origin;
};

struct LayoutChange {
  std::string name;  // changes may share a name, which selects them together; only "all" selects a change without a name
  PlacedName structure;
  std::optional<PlacedBytes> align, base_offset;
  std::vector<PlacedName> order;
  // One offset for each member in `order`, in bytes; empty: each member follows the one before.
  std::vector<PlacedBytes> at;
  std::vector<std::vector<PlacedName>> split;  // each inner list of members gets a cache line of its own
  std::vector<PlacedName> per_cpu, read_mostly;
  std::vector<PlacedName> spread;  // arrays to spread, one cache line per element
  // The element size for arrays that the file describes as one field. If `spread` is empty, the whole object is the array.
  std::optional<PlacedBytes> element_bytes;
  std::optional<PlacedBytes> line;  // the line size for `split` and `spread`; none or a smaller one: the machine's
  Origin origin;
};

// Reads the elements of [[layout.change]]. Checks all that needs no knowledge of the structures. Errors: ConfigError.
std::vector<LayoutChange> read_layout_changes(const toml::array& changes, const std::string& file);

// The changes as [[layout.change]] of a resolved configuration.
toml::array layout_changes_table(const std::vector<LayoutChange>& changes);

// The changes that the setting chooses, in the file's order. Errors: ConfigError for an unknown name.
std::vector<LayoutChange> chosen_changes(const std::vector<LayoutChange>& changes, const Setting& setting);

// The file's structures after the chosen changes. `line_bytes`: the machine's coherence line. Errors: ConfigError for unknown
// structures and fields, and for impossible changes.
LayoutSet changed_layouts(const LayoutFile& file, const std::vector<LayoutChange>& changes, int line_bytes);

}  // namespace linebounce::sim
