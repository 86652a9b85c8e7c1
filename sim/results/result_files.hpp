// Reading and writing files so that nothing is half there: what a kill -9 or a full disk leaves is the old file or the new one.
#pragma once

#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace linebounce::sim {

// An output that can't be written: exit code 2. what() names the file and the reason.
class OutputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Results that can't be read: exit code 3. what() names the file and the reason.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// What the temporary files of write_file() begin with: ".linebounce-tmp-"; one that a killed process left may be deleted.
extern const std::string_view kTemporaryPrefix;

// Replaces the file as a whole: temporary file, fsync, rename. Errors: OutputError.
void write_file(const std::filesystem::path& path, std::string_view content);

// All of it, however often a signal comes between. 0 or an errno.
int write_all(int descriptor, std::string_view content);

// Whether there is a file or a link to one, readable or not. Errors: none; what can't be looked at is there, and can't be read.
bool is_there(const std::filesystem::path& path);

// Calls `take` with a regular file's content, part by part. A device or a pipe is refused: it may have no end. Errors:
// InputError.
void read_parts(const std::filesystem::path& path, const std::function<void(std::string_view)>& take);

// Its content as a whole. Errors: InputError.
std::string read_file(const std::filesystem::path& path);

// Leaves a file alone that holds this already. Errors: OutputError.
void write_if_changed(const std::filesystem::path& path, std::string_view content);

// Errors: OutputError.
void make_directories(const std::filesystem::path& path);

// "cannot write FILE: REASON", for errno `error`.
std::string write_problem(const std::filesystem::path& path, int error);

// What `read` makes of the file's text; `place` comes before what is wrong with that. Errors: InputError.
template <class Read>
auto read_results(const std::filesystem::path& file, const std::string& place, const Read& read) {
  const std::string text = read_file(file);
  try {
    return read(text);
  } catch (const InputError& error) {
    throw InputError(place + error.what());
  }
}

// The same for a CSV file, whose errors name it, but not its directory.
template <class Read>
auto read_csv(const std::filesystem::path& file, const Read& read) {
  return read_results(file, (file.parent_path() / "").string(), read);
}

}  // namespace linebounce::sim
