// Where the project's files are, and how to read one. experiment.hpp declares project_root().
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace linebounce::sim {

// A kind of file that users name: experiments, machines, layouts, protocols.
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

// While this object lives, project_root() returns `folder` in this thread, unless LINEBOUNCE_ROOT is set. An empty folder has
// no effect.
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

// True if a user's word is a path rather than a name: it has the kind's extension, or contains a slash and does not begin
// with a folder of this kind.
bool is_path(const FileKind& kind, std::string_view name_or_path);

// The file of a name, or the path relative to `base`. Errors: ConfigError for an unknown name; the message begins with
// `context`, if that is not empty, and names the nearest. Does not check that a path exists; read_text() does.
std::filesystem::path find_file(const FileKind& kind, const std::string& name_or_path, const std::filesystem::path& base,
                                const std::string& context);

// The absolute path, for config.toml. Errors: ConfigError for a name that is not UTF-8, because TOML can't hold it.
std::string absolute_path(const std::filesystem::path& path);

// A file's bytes. Errors: ConfigError for a missing or unreadable file or a directory.
std::string read_text(const std::filesystem::path& file);

// True if a name from a file may become a directory's name: "counter", or "what_if/counter" in a subfolder. It must stay
// below the parent directory, even if the file is malicious, and must not contain blanks or control characters.
bool names_directory(const std::string& name);

// Why a name is refused.
inline constexpr const char* kNoDirectoryName =
    "cannot name a results directory: no blanks, no leading dot, and slashes only between a folder and what is in it";

}  // namespace linebounce::sim
