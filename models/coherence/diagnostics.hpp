// Collects the errors in a protocol file and in the files that it extends, so that the author sees all of them at once.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/coherence/protocol.hpp"

namespace linebounce {

// The file that contains `line`. The lines of several files are numbered consecutively.
const FileLines& file_of(const std::vector<FileLines>& files, int line);

class Diagnostics {
 public:
  // Starts the next file: line numbers from `first_line` on belong to `file`.
  void begin_file(const std::string& file, int first_line) { files_.push_back({file, first_line}); }

  void error(int line, std::string text) { errors_.emplace_back(line, std::move(text)); }
  // Reports that no row does what `line` declares. If the line is inherited, the rows of the file that extends it are at fault.
  void error_of_rows(int line, const std::string& text);
  [[nodiscard]] std::size_t count() const { return errors_.size(); }

  [[nodiscard]] const std::vector<FileLines>& files() const { return files_; }
  // Converts a consecutive line number to the number within the line's own file.
  [[nodiscard]] int line_in_file(int line) const { return line - file_of(files_, line).first_line + 1; }

  // Throws ProtocolError if there are errors. Its message lists the first errors in the order of lines, without repetitions.
  void throw_if_any() const;

 private:
  std::vector<FileLines> files_;
  std::vector<std::pair<int, std::string>> errors_;
};

// The end of an error message: "; did you mean 'X'?" if a known name is close to `unknown`, else "; known: A, B, C".
std::string hint(std::string_view unknown, const std::vector<std::string>& known);

}  // namespace linebounce
