// Where the project's files are, and reading one. project_root() itself is declared in experiment.hpp.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace linebounce::sim {

// A kind of file that users name: experiments, machines, layouts, protocols.
struct FileKind {
  std::string_view name;       // "machine"
  std::string_view folder;     // below the project's root: "configs/machines"
  std::string_view extension;  // ".toml"
};
inline constexpr FileKind kExperimentFiles{"experiment", "configs/experiments", ".toml"};
inline constexpr FileKind kMachineFiles{"machine", "configs/machines", ".toml"};
inline constexpr FileKind kFamilyFiles{"contention family", "configs/families", ".toml"};
inline constexpr FileKind kLayoutFiles{"layout", "configs/layouts", ".toml"};
inline constexpr FileKind kProtocolFiles{"protocol", "models/protocols", ".md"};

// Names of the files of a kind, without extension, sorted: "counter", in a folder "what_if/counter". README.md is none.
std::vector<std::string> file_names(const FileKind& kind);

// Whether a user's word is a path rather than a name: it has the kind's extension, or a slash behind something that is no
// folder of the kind's.
bool is_path(const FileKind& kind, std::string_view name_or_path);

// The file of a name, or the path, taken from `base` where it is relative. Errors: ConfigError for an unknown name, with the
// known ones; `context` (may be empty) precedes the message. Whether a path exists is found out by read_text.
std::filesystem::path find_file(const FileKind& kind, const std::string& name_or_path, const std::filesystem::path& base,
                                const std::string& context);

// A path as config.toml holds it. Errors: ConfigError for a name that is no UTF-8, which no TOML can hold.
std::string absolute_path(const std::filesystem::path& path);

// A file's bytes. Errors: ConfigError for a missing or unreadable file or a directory.
std::string read_text(const std::filesystem::path& file);

// Whether a name from a file can become the name of a directory: "counter", or in a folder "what_if/counter": below the
// directory that it is put into, wherever the file came from, and without blanks and control characters.
bool names_directory(const std::string& name);

// Why another one is refused.
inline constexpr const char* kNoDirectoryName =
    "cannot name a results directory: no blanks, no leading dot, and slashes only between a folder and what is in it";

}  // namespace linebounce::sim
