// Reads and writes files. Writing is atomic: even after kill -9 or on a full disk, a file has either its old or its new
// content.
#pragma once

#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace linebounce::sim {

// An output can't be written: exit code 2. what() names the file and the reason.
class OutputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Results can't be read: exit code 3. what() names the file and the reason.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Prefix of temporary files, ".linebounce-tmp-". Those of killed processes may be deleted.
extern const std::string_view kTemporaryPrefix;

// Writes a file atomically: temporary file, fsync, rename. Replaces whatever has this name in a results directory, even a pipe
// or a link. Errors: OutputError.
void replace_file(const std::filesystem::path& path, std::string_view content);

// The same for a file that the user named, such as /dev/null or a link: writes to a device or pipe, and replaces the file
// behind a link. Errors: OutputError.
void write_file(const std::filesystem::path& path, std::string_view content);

// Writes all of the content, even if signals interrupt. Returns 0 or an errno.
int write_all(int descriptor, std::string_view content);

// True if the path has a file or link, readable or not, or can't be examined. Throws nothing.
bool is_there(const std::filesystem::path& path);

// Calls `take` with one part after another of a regular file. Refuses devices and pipes, which may have no end. Errors:
// InputError.
void read_parts(const std::filesystem::path& path, const std::function<void(std::string_view)>& take);

// The whole content. Errors: InputError.
std::string read_file(const std::filesystem::path& path);

// As replace_file(), unless the file already has this content. Errors: OutputError.
void write_if_changed(const std::filesystem::path& path, std::string_view content);

// Errors: OutputError.
void make_directories(const std::filesystem::path& path);

// "FILE: cannot be written: REASON", for errno `error`.
std::string write_problem(const std::filesystem::path& path, int error);

// Applies `read` to a file's text, and prefixes its error messages with `place`. Errors: InputError.
template <class Read>
auto read_results(const std::filesystem::path& file, const std::string& place, const Read& read) {
  const std::string text = read_file(file);
  try {
    return read(text);
  } catch (const InputError& error) {
    throw InputError(place + error.what());
  }
}

// Like read_results(), for a CSV file. Error messages contain only the file's name, without directories.
template <class Read>
auto read_csv(const std::filesystem::path& file, const Read& read) {
  return read_results(file, (file.parent_path() / "").string(), read);
}

}  // namespace linebounce::sim
