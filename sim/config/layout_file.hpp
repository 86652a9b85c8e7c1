// Layout files: structures with the offsets of their fields. Described in configs/layouts/README.md.
#pragma once

#include <filesystem>
#include <string>

#include "workloads/program/layout_set.hpp"

namespace linebounce::sim {

using namespace workloads;

// A workload whose structures come from a layout file has a parameter of this name. Its value is the file's name or path.
inline constexpr const char* kLayoutKey = "workload.layout";

inline constexpr int kLargestStructure = 1 << 20;  // bytes

struct LayoutFile {
  std::string name, title;
  int line_bytes = 128;  // the line size for base offsets
  LayoutSet layouts;
};

// Whether a user's word is a path of a layout file rather than a name.
bool is_layout_path(const std::string& name_or_path);

// configs/layouts/NAME.toml, or a path of such a file, of pahole's output or of BTF types. `place`: where the name was read,
// for messages; may be empty. Errors: ConfigError for an unknown name.
std::filesystem::path find_layout_file(const std::string& name_or_path, const std::string& place);

// Reads a layout file. Errors: ConfigError.
LayoutFile load_layout_file(const std::string& name_or_path, const std::string& place);

// As load_layout_file(), from the text of a file. The text is read as output of pahole or bpftool if its content or its name
// (*.pahole) says so.
LayoutFile read_layout_file(const std::string& text, const std::filesystem::path& file);

// The alignment of a field of this size, in bytes. A program accesses up to 8 bytes as one word, which must lie in one line.
int natural_alignment(int size);

// The alignment that a field has at its offset; in a packed structure it may be less than its natural alignment.
int alignment_of(const Field& field);

// The largest alignment of all fields.
int alignment_of(const Layout& layout);

}  // namespace linebounce::sim
