// Finds the project's files and reads them. experiment.hpp declares project_root().
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace linebounce::sim {

// A kind of file that users refer to by name: an experiment, a machine, a layout, a protocol.
struct FileKind {
  std::string_view name;       // "machine"
  std::string_view folder;     // relative to the project's root: "configs/machines"
  std::string_view extension;  // ".toml"
};
inline constexpr FileKind kExperimentFiles{"experiment", "configs/experiments", ".toml"};
inline constexpr FileKind kMachineFiles{"machine", "configs/machines", ".toml"};
inline constexpr FileKind kFamilyFiles{"contention family", "configs/families", ".toml"};
inline constexpr FileKind kLayoutFiles{"layout", "configs/layouts", ".toml"};
inline constexpr FileKind kCounterTemplates{"template of counters", "configs/counters", ".txt"};
inline constexpr FileKind kProtocolFiles{"protocol", "models/protocols", ".md"};

// While this object lives, project_root() returns `folder` in this thread. LINEBOUNCE_ROOT still takes precedence. An empty
// folder has no effect.
class ProjectHome {
 public:
  explicit ProjectHome(std::filesystem::path folder);
  ~ProjectHome();
  ProjectHome(const ProjectHome&) = delete;
  ProjectHome& operator=(const ProjectHome&) = delete;

 private:
  std::filesystem::path outer_;
};

// Names of the files of a kind, without extension, sorted: "counter", or "what_if/counter" in a subfolder. README.md is left
// out.
std::vector<std::string> file_names(const FileKind& kind);

// The shipped file of this name, "counter" or "what_if/counter"; none if there is no such file.
std::optional<std::filesystem::path> shipped_file(const FileKind& kind, const std::string& name);

// What a name is, if it is one of a machine, experiment, protocol or lock, and what takes it: "it is a machine, for --machine
// p3_xeon_4way"; else empty.
std::string as_another_kind(const std::string& name);

// True if the user's text is a path rather than a name. A path has the kind's extension, or contains a slash and does not
// begin with one of the shipped folders of this kind.
bool is_path(const FileKind& kind, std::string_view name_or_path);

// Finds the file for a name, or resolves a path relative to `base`. Does not check that a path exists; read_text() does.
// `context`: begins the message, if not empty. Errors: ConfigError for an unknown name, with similar names.
std::filesystem::path find_file(const FileKind& kind, const std::string& name_or_path, const std::filesystem::path& base,
                                const std::string& context);

// Returns the absolute path, for config.toml. Errors: ConfigError for a path that is not UTF-8, which TOML can't hold.
std::string absolute_path(const std::filesystem::path& path);

// Returns a file's bytes. Errors: ConfigError for a missing file, a directory, a pipe, which a stranger's file could name to
// make a command wait, or more than 16 MiB; UnreadableConfig after an I/O error.
std::string read_text(const std::filesystem::path& file);
// Reads measurements, or what another tool has written, also through a pipe. Like read_text(), but with up to 256 MiB. A
// missing file is an UnreadableConfig, and a mark of byte order is removed.
std::string read_data(const std::filesystem::path& file);

// True if a name from a file may be used as a directory's name: "counter", or "what_if/counter" in a subfolder. Rejects names
// that lead elsewhere (name_problem() in sim/results/own_directory.hpp), blanks, a leading dot or dash, and backslashes.
bool names_directory(const std::string& name);

// Completes a message about a name that names_directory() rejects.
inline constexpr const char* kNoDirectoryName =
    "cannot name a results directory: no blanks, no leading dot, and slashes only between a folder and what is in it";

}  // namespace linebounce::sim
