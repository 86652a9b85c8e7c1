#include "sim/config/project_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <utility>

#include "models/text/quote_marks.hpp"
#include "models/text/visible.hpp"
#include "sim/config/experiment.hpp"
#include "sim/config/suggestions.hpp"
#include "sim/results/own_directory.hpp"
#include "trace/read_problem.hpp"
#include "workloads/locks/lock_registry.hpp"

namespace linebounce::sim {
namespace fs = std::filesystem;
namespace {

bool is_project(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_directory(folder / "configs", ignored) && fs::is_directory(folder / "models/protocols", ignored);
}

thread_local fs::path home;  // empty: project_root() searches above the program

constexpr int kLargestConfiguration = 16, kLargestData = 256;  // MiB; a device may supply data without end

std::string read_up_to(int mebibytes, const fs::path& file) {
  std::error_code ignored;
  if (fs::is_directory(file, ignored)) throw ConfigError(fmt::format("{}: this is a folder, not a file", file.string()));
  const std::size_t largest = static_cast<std::size_t>(mebibytes) << 20;
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  std::string text;
  std::array<char, 4096> part{};
  while (text.size() <= largest && (in.read(part.data(), part.size()), in.gcount() > 0)) {
    text.append(part.data(), in.gcount());
  }
  if (text.size() > largest)
    throw ConfigError(fmt::format("{}: larger than {} MiB: this is not {}", file.string(), mebibytes,
                                  mebibytes == kLargestData ? "a listing" : "a configuration file"));
  if (!in.is_open() || in.bad()) {
    const int why = errno;
    const std::string message = read_problem(file.string(), why);
    // After an I/O error or a lack of file descriptors, nothing is known about the configuration, which may be correct.
    if (why == EIO || why == EMFILE || why == ENFILE) throw UnreadableConfig(message);
    throw ConfigError(message);
  }
  return text;
}

}  // namespace

ProjectHome::ProjectHome(fs::path folder) : outer_(std::exchange(home, std::move(folder))) {}
ProjectHome::~ProjectHome() {
  home = std::move(outer_);
}

fs::path project_root() {
  if (const char* given = std::getenv("LINEBOUNCE_ROOT"); given && *given) {
    if (is_project(given)) return given;
    throw ConfigError(fmt::format("LINEBOUNCE_ROOT={}: this folder has no configs/ and models/protocols/", given));
  }
  if (!home.empty()) {
    if (is_project(home)) return home;
    throw ConfigError(fmt::format("{}: this folder has no configs/ and models/protocols/", home.string()));
  }
  std::error_code failed;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  for (fs::path folder = program.parent_path(); !folder.empty(); folder = folder.parent_path()) {
    if (is_project(folder)) return folder;
    if (folder == folder.root_path()) break;
  }
  throw ConfigError(
      fmt::format("no folder above {} holds configs/ and models/protocols/; set LINEBOUNCE_ROOT to the project's folder",
                  failed ? "the program" : program.string()));
}

// The kind's file beside `file` that its name without this extension may misspell or begin: "mine.toml" for "mine" and
// "mine.tml". Empty if there is none.
static fs::path near_file(const FileKind& kind, const fs::path& file) {
  const std::string stem = file.stem().string();
  fs::path near = file;
  near.replace_extension(kind.extension);
  std::error_code ignored;
  return !stem.empty() && fs::is_regular_file(near, ignored) ? near : fs::path();
}

std::vector<std::string> file_names(const FileKind& kind) {
  std::vector<std::string> names;
  std::error_code failed;
  const fs::path folder = project_root() / kind.folder;
  for (fs::recursive_directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed)) {
    const fs::path& path = entry->path();
    if (path.extension() != kind.extension || path.stem() == "README") continue;
    names.push_back(path.lexically_relative(folder).replace_extension());
  }
  // An unreadable folder must not pass for an empty one.
  if (failed && failed != std::errc::no_such_file_or_directory)
    throw UnreadableConfig(fmt::format("{}: cannot be read: {}", folder.string(), failed.message()));
  std::ranges::sort(names);
  return names;
}

std::optional<fs::path> shipped_file(const FileKind& kind, const std::string& name) {
  // Rejects a name that could lead out of the folder.
  if (!names_directory(name) || fs::path(name).filename() == "README") return std::nullopt;
  const fs::path file = project_root() / kind.folder / (name + std::string(kind.extension));
  std::error_code ignored;
  return fs::exists(file, ignored) ? std::optional(file) : std::nullopt;
}

bool is_path(const FileKind& kind, std::string_view name_or_path) {
  if (name_or_path.ends_with(kind.extension)) return true;
  const auto slash = name_or_path.find('/');
  if (slash == std::string_view::npos) return false;
  const auto names = file_names(kind);
  const auto folder = name_or_path.substr(0, slash + 1);
  return std::ranges::none_of(names, [&](const std::string& name) { return name.starts_with(folder); });
}

fs::path find_file(const FileKind& kind, const std::string& name_or_path, const fs::path& base, const std::string& context) {
  // Tries the shipped file first. Listing all names reads every folder, which is slow if done for each file of each point.
  if (auto file = shipped_file(kind, name_or_path)) return *std::move(file);
  if (is_path(kind, name_or_path)) return (base / name_or_path).lexically_normal();
  const std::string place = context.empty() ? "" : context + ": ";
  std::error_code ignored;
  const char* article = std::string_view("aeiou").find(kind.name[0]) == std::string_view::npos ? "a" : "an";
  if (fs::is_regular_file(base / name_or_path, ignored))
    throw ConfigError(
        fmt::format("{}{}: {} {}'s file must be called NAME{}", place, name_or_path, article, kind.name, kind.extension));
  if (fs::is_directory(base / name_or_path, ignored))
    throw ConfigError(fmt::format("{}{}: this is a folder; give {} {}'s file, NAME{}", place, name_or_path, article, kind.name,
                                  kind.extension));
  if (const std::string other = as_another_kind(name_or_path); !other.empty())
    throw ConfigError(fmt::format("{}{} \"{}\" is not known: {}; `linebounce list {}s` shows all", place, kind.name,
                                  visible_name(name_or_path), other, kind.name));
  const std::string unknown = not_known(name_or_path, file_names(kind), fmt::format("linebounce list {}s", kind.name));
  const bool has_near_name = unknown.find("did you mean") != std::string::npos;
  if (const fs::path near = near_file(kind, base / name_or_path); !has_near_name && !near.empty())
    throw ConfigError(fmt::format("{}{} \"{}\" is not known; did you mean the file {}?", place, kind.name,
                                  visible_name(name_or_path), near.lexically_normal().string()));
  throw ConfigError(fmt::format("{}{} {}", place, kind.name, unknown));
}

std::string as_another_kind(const std::string& name) {
  if (shipped_file(kMachineFiles, name)) return fmt::format("it is a machine, for --machine {}", name);
  if (shipped_file(kExperimentFiles, name)) return fmt::format("it is an experiment, for linebounce run {}", name);
  if (shipped_file(kProtocolFiles, name)) return fmt::format("it is a protocol, for linebounce check {}", name);
  const std::vector<std::string> locks = workloads::lock_names([](const workloads::LockTraits&) { return true; });
  if (std::ranges::find(locks, name) != locks.end()) return fmt::format("it is a lock, for --set workload.lock={}", name);
  return "";
}

std::string absolute_path(const fs::path& path) {
  std::string text = fs::absolute(path).lexically_normal().string();
  if (is_utf8(text)) return text;
  throw ConfigError(
      fmt::format("{}: this name is not UTF-8 text, which config.toml could not hold; rename it, or use a link", text));
}

std::string read_text(const fs::path& file) {
  std::error_code ignored;
  if (file.string().find('\n') != std::string::npos)
    throw ConfigError(fmt::format("{}: a file name may have no line break; rename the file", visible_name(file.string())));
  if (fs::is_fifo(file, ignored)) throw ConfigError(fmt::format("{}: this is a pipe, not a file", file.string()));
  return read_up_to(kLargestConfiguration, file);
}

std::string read_data(const fs::path& file) {
  std::error_code ignored;
  if (!fs::exists(file, ignored)) throw UnreadableConfig(read_problem(file.string(), ENOENT));
  std::string text = read_up_to(kLargestData, file);
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  return text;
}

bool names_directory(const std::string& name) {
  if (!name_problem(name).empty() || name.find_first_of(" \\") != std::string::npos) return false;
  const std::string parts = "/" + name;
  return parts.find("/.") == std::string::npos && parts.find("/-") == std::string::npos;
}

}  // namespace linebounce::sim
