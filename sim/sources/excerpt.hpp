// The beginning of a file, which the recognisers examine.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace linebounce::sim {

struct Excerpt {
  struct Line {
    std::int64_t number = 1;
    std::string text;  // without e-mail quote marks and outer blanks
  };

  std::string name;   // of the file, without its directory
  std::string bytes;  // at most 64 KiB
  bool whole = true;  // true: the file has no more than `bytes`
  bool is_text = true;
  std::vector<Line> lines;  // for a text: its non-empty lines, without a truncated last one

  [[nodiscard]] bool has(std::string_view text) const { return bytes.find(text) != std::string::npos; }
};

// Errors: trace::TraceError if the file is unreadable, compressed or not a regular file (a pipe would lose its beginning).
Excerpt excerpt_of(const std::filesystem::path& file);
// The excerpt of a text in memory.
Excerpt excerpt_of_text(const std::string& text, const std::string& name);

}  // namespace linebounce::sim
