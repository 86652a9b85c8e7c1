// Collects the errors in one file, so that its author sees all of them at once.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace linebounce {

class Diagnostics {
 public:
  explicit Diagnostics(std::string file) : file_(std::move(file)) {}

  void error(int line, std::string text) { errors_.emplace_back(line, std::move(text)); }
  [[nodiscard]] std::size_t count() const { return errors_.size(); }

  // Throws ProtocolError if there are errors, with the first of them, each once, in the order of lines.
  void throw_if_any() const;

 private:
  std::string file_;
  std::vector<std::pair<int, std::string>> errors_;
};

// "; did you mean 'X'?" where a known name is close, else "; known: A, B, C".
std::string hint(std::string_view unknown, const std::vector<std::string>& known);

}  // namespace linebounce
