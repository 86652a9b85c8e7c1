// Layout files: structures with the offsets of their fields. Described in configs/layouts/README.md.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "workloads/program/layout_set.hpp"

namespace linebounce::sim {

using namespace workloads;

// The parameter that names a workload's layout file, by name or path. Only workloads that take their structures from a file
// have it.
inline constexpr const char* kLayoutKey = "workload.layout";

inline constexpr int kLargestStructure = 1 << 20;  // bytes

struct LayoutFile {
  std::string name, title;
  int line_bytes = 128;  // the line size to which base offsets refer
  LayoutSet layouts;
  std::map<std::string, std::string> unread = {};  // structures that could not be read, with the reason
};

inline constexpr const char* kPaholeExtension = ".pahole";

// How to read a listing of structures.
struct LayoutChoice {
  std::vector<std::string> wanted = {};  // the structures that matter; empty: all
  std::string base = {};                 // a file with the BTF of the kernel, for BTF of one of its modules; empty: none
};

// Whether a user's word is a path of a layout file rather than a name.
bool is_layout_path(const std::string& name_or_path);

// Finds configs/layouts/NAME.toml, or takes a path: to a layout file, to pahole's output or to BTF. `place`: the position of
// the setting that contains the name, for messages; may be empty. Errors: ConfigError for an unknown name.
std::filesystem::path find_layout_file(const std::string& name_or_path, const std::string& place);

// Reads a layout file or a listing. Errors: ConfigError.
LayoutFile load_layout_file(const std::string& name_or_path, const std::string& place);

// Like load_layout_file(), but reads `text` as the content of `file`. The text is taken for another tool's listing or for BTF
// if it looks like it, or if the file's extension is .pahole.
LayoutFile read_layout_file(const std::string& text, const std::filesystem::path& file, const LayoutChoice& choice = {});

// The natural alignment of a field of `size` bytes: the largest power of two, up to 8, that divides the size. A program
// accesses up to 8 bytes as one word, which must lie in one line.
int natural_alignment(int size);

// The field's actual alignment, in bytes: natural_alignment(), or a larger one that its type or declaration demands. Less if
// its offset is not a multiple of that, as in a packed structure.
int alignment_of(const Field& field);

// The largest alignment of all fields.
int alignment_of(const Layout& layout);

// "bytes 16 to 31 of Job may be of a member that its source does not tell"; empty if all bytes are explained.
std::string unexplained_text(const Layout& layout);

}  // namespace linebounce::sim
