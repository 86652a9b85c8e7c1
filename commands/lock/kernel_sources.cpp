#include "commands/lock/kernel_sources.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <regex>
#include <sstream>
#include <string_view>
#include <system_error>

#include "models/text/visible.hpp"
#include "sim/native/run_program.hpp"
#include "sim/point/config_error.hpp"
#include "sim/results/own_directory.hpp"
#include "sim/results/result_files.hpp"
#include "sim/results/signals_wait.hpp"
#include "trace/read_problem.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;

// The largest lock has 14 files of 200 KiB in all.
constexpr std::size_t kMostFiles = 1000;
constexpr std::uintmax_t kMostBytes = std::uintmax_t{64} << 20;

bool is_within_limits(const fs::path& folder) {
  std::size_t files = 0;
  std::uintmax_t bytes = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code gone;  // tar renames and deletes files while it works
    const std::uintmax_t size = entry->is_regular_file(gone) && !entry->is_symlink(gone) ? entry->file_size(gone) : 0;
    ++files;
    if (!gone) bytes += size;
    if (files > kMostFiles || bytes > kMostBytes) return false;
  }
  return true;
}

void require_within_limits(const fs::path& kernel, const fs::path& folder) {
  if (!is_within_limits(folder))
    throw InputError(
        fmt::format("{}: more than {} files or {} MiB would be unpacked, which is the limit: a lock has a few small ones",
                    kernel.string(), kMostFiles, kMostBytes >> 20));
}

// Refuses links, which would lead what is written later elsewhere, as well as pipes and devices.
void require_plain_files(const fs::path& kernel, const fs::path& folder) {
  std::error_code error;
  fs::path last = folder;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    last = entry->path();
    const fs::file_status status = entry->symlink_status();
    const bool is_plain = fs::is_directory(status) || (fs::is_regular_file(status) && entry->hard_link_count() == 1);
    if (is_plain) continue;
    throw InputError(fmt::format("{}: {} is a link, a pipe or a device in it; only files and folders are taken",
                                 kernel.string(), visible_name(entry->path().lexically_relative(folder).string())));
  }
  if (error) throw OutputError(fmt::format("{}: cannot be read: {}", last.string(), error.message()));
}

// Also reads a pipe, which only the command line can name.
std::string read_patch(const fs::path& patch) {
  std::ifstream in(patch, std::ios::binary);
  std::string text(kMostBytes + 1, '\0');
  in.read(text.data(), std::ssize(text));
  if (!in.is_open() || in.bad()) throw InputError(read_problem(patch.string(), errno));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > kMostBytes)
    throw InputError(fmt::format("{}: larger than the limit of {} MiB", patch.string(), kMostBytes >> 20));
  return text;
}

void copy_from_tree(const fs::path& kernel, const std::vector<std::string>& files, const fs::path& to) {
  for (const std::string& file : files) {
    if (!fs::exists(kernel / file)) continue;
    std::error_code odd;
    if (fs::file_size(kernel / file, odd) > kMostBytes && !odd)
      throw InputError(fmt::format("{}: larger than the limit of {} MiB", (kernel / file).string(), kMostBytes >> 20));
    const std::string text = read_file(kernel / file);
    make_directories((to / file).parent_path());
    replace_file(to / file, text);
  }
}

void extract(const fs::path& kernel, const std::vector<std::string>& files, const fs::path& to) {
  if (!fs::exists(kernel)) throw InputError(read_problem(kernel.string(), ENOENT));
  // --force-local: a colon in the archive's name would otherwise name another computer.
  std::vector<std::string> words = {
      "tar",       "--force-local",        "--no-same-owner", "--no-same-permissions",     "-xf", kernel.string(), "-C",
      to.string(), "--strip-components=1", "--wildcards",     "--no-wildcards-match-slash"};
  for (const std::string& file : files) words.push_back("*/" + file);
  const ProgramLimits limits{.largest_file = kMostBytes + 1,
                             .may_go_on = [&to] { return is_within_limits(to) && !SignalsWait::has_come(); }};
  const ProgramOutput output = run_program(words, limits);
  if (output.could_not_run())
    throw ConfigError(fmt::format("{}: to unpack it, the program tar is needed, and can't be run", kernel.string()));
  require_within_limits(kernel, to);
  // tar also ends with an error if the archive lacks one of the files; the caller names that file.
  if (output.code != 0 && output.text.find("Not found in archive") == std::string::npos)
    throw InputError(fmt::format("{}: tar can't unpack it:\n{}", kernel.string(), visible(output.text)));
}

// What a patch's header says about files: names, and kinds of files.
class PatchHeader {
 public:
  PatchHeader(const fs::path& patch, const fs::path& to) : patch_(patch), to_(to) {}

  // Errors: ConfigError for a name outside `to`, and for a link.
  void check(const std::string& text) {
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
      ++number_;
      if (is_in_hunk(line)) continue;
      if (line.find("mode 120000") != std::string::npos) refuse("makes a symbolic link, which a lock's sources have none of");
      for (const std::string_view begin : {"--- ", "+++ ", "Index: "}) {
        if (line.starts_with(begin)) require_inside(line.substr(begin.size()), true);
      }
      for (const std::string_view begin : {"rename from ", "rename to ", "copy from ", "copy to "}) {
        if (line.starts_with(begin)) require_inside(line.substr(begin.size()), false);
      }
    }
  }

 private:
  // Hunks have as many lines as their first one says, and the text of these lines names no file.
  bool is_in_hunk(const std::string& line) {
    static const std::regex kHunk(R"(@@ -\d+(,(\d{1,9}))? \+\d+(,(\d{1,9}))? @@)");
    if (before_ > 0 || after_ > 0) {
      const char kind = line.empty() ? ' ' : line.front();
      if (std::string_view(" \t+-\\").find(kind) == std::string_view::npos) refuse("this line is not one of a hunk");
      if (kind != '+' && kind != '\\') --before_;
      if (kind != '-' && kind != '\\') --after_;
      return true;
    }
    constexpr std::size_t kLongest = 80;
    const std::string begin = line.substr(0, kLongest);  // std::regex takes a stack as deep as a line is long
    std::smatch counts;
    if (!std::regex_search(begin, counts, kHunk, std::regex_constants::match_continuous)) return false;
    before_ = counts[2].matched ? std::stol(counts[2]) : 1;
    after_ = counts[4].matched ? std::stol(counts[4]) : 1;
    return true;
  }

  void require_inside(std::string name, bool has_folder) {
    name = name.substr(0, name.find('\t'));
    while (name.ends_with(' ') || name.ends_with('\r')) name.pop_back();
    if (name == "/dev/null") return;
    const std::size_t slash = name.find('/');
    const bool is_relative = !name.starts_with('/');
    if (has_folder && is_relative && slash != std::string::npos) name.erase(0, slash + 1);
    if (const std::string problem = name_problem(name); !problem.empty())
      refuse(fmt::format("\"{}\": {}", visible_name(name), problem));
    inner_path(to_, name);
  }

  [[noreturn]] void refuse(const std::string& why) const {
    throw ConfigError(fmt::format("{}:{}: {}", patch_.string(), number_, why));
  }

  const fs::path& patch_;
  const fs::path& to_;
  std::int64_t number_ = 0;
  long before_ = 0, after_ = 0;  // lines of the hunk that are still to come
};

}  // namespace

void copy_kernel_files(const fs::path& kernel, const std::vector<std::string>& files, const fs::path& to) {
  fs::is_directory(kernel) ? copy_from_tree(kernel, files, to) : extract(kernel, files, to);
  require_within_limits(kernel, to);
  require_plain_files(kernel, to);
}

void apply_patch(const fs::path& patch, const fs::path& to) {
  const std::string text = read_patch(patch);
  PatchHeader(patch, to).check(text);
  const ScratchFolder scratch("patch");
  write_file(scratch.file("patch"), text);
  // --unified: other forms, such as scripts for ed, are not looked at above.
  const ProgramOutput output = run_program(
      {"patch", "--batch", "--forward", "--unified", "-p1", "-d", to.string(), "-i", scratch.file("patch").string()});
  if (output.could_not_run())
    throw ConfigError(fmt::format("{}: to apply it, the program patch is needed, and can't be run", patch.string()));
  if (output.code != 0) throw ConfigError(fmt::format("{} does not apply:\n{}", patch.string(), visible(output.text)));
  require_plain_files(patch, to);
}

}  // namespace linebounce::sim
