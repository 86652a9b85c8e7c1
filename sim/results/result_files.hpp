// Reads and writes files. Writing is atomic: after kill -9 or on a full disk, the file has its old or its new content.
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

// Prefix of the temporary files of write_file(), ".linebounce-tmp-"; those of killed processes may be deleted.
extern const std::string_view kTemporaryPrefix;

// Replaces the file as a whole: temporary file, fsync, rename. Errors: OutputError.
void write_file(const std::filesystem::path& path, std::string_view content);

// Writes all of it, even if signals interrupt. Returns 0 or an errno.
int write_all(int descriptor, std::string_view content);

// True if there is a file or link at the path, readable or not. A path that can't be examined counts as an unreadable file.
// Throws nothing.
bool is_there(const std::filesystem::path& path);

// Calls `take` with successive parts of a regular file's content. Refuses a device or a pipe, because it may have no end.
// Errors: InputError.
void read_parts(const std::filesystem::path& path, const std::function<void(std::string_view)>& take);

// The whole content. Errors: InputError.
std::string read_file(const std::filesystem::path& path);

// Writes the file unless it already has this content. Errors: OutputError.
void write_if_changed(const std::filesystem::path& path, std::string_view content);

// Errors: OutputError.
void make_directories(const std::filesystem::path& path);

// "FILE: cannot be written: REASON", for errno `error`.
std::string write_problem(const std::filesystem::path& path, int error);

// Parses a file's text with `read`, and puts `place` before its error messages. Errors: InputError.
template <class Read>
auto read_results(const std::filesystem::path& file, const std::string& place, const Read& read) {
  const std::string text = read_file(file);
  try {
    return read(text);
  } catch (const InputError& error) {
    throw InputError(place + error.what());
  }
}

// The same for a CSV file. Its error messages name the file without its directory.
template <class Read>
auto read_csv(const std::filesystem::path& file, const Read& read) {
  return read_results(file, (file.parent_path() / "").string(), read);
}

}  // namespace linebounce::sim
