// The message for a file or folder that can't be read. All commands use this form; analysis/linebounce/files.py has the same.
#pragma once

#include <cerrno>
#include <string>
#include <system_error>

namespace linebounce {

// "FILE: there is no such file", "FILE: this is a folder, not a file", or "FILE: cannot be read: " with the system's reason.
// `error`: an errno.
inline std::string read_problem(const std::string& file, int error) {
  if (error == ENOENT || error == ENOTDIR) return file + ": there is no such file";
  if (error == EISDIR) return file + ": this is a folder, not a file";
  return file + ": cannot be read: " + std::generic_category().message(error);
}

}  // namespace linebounce
