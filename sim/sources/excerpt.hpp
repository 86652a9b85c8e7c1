// The beginning of a file, which recognisers look at.
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
    std::string text;  // without a mail's quote marks, and without blanks at its ends
  };

  std::string name;   // of the file, without its folder
  std::string bytes;  // at most 64 KiB
  bool whole = true;  // the file is no longer
  bool is_text = true;
  std::vector<Line> lines;  // of a text: those that are not empty; a last one that is cut off is none

  [[nodiscard]] bool has(std::string_view text) const { return bytes.find(text) != std::string::npos; }
};

// Errors: trace::TraceError if it can't be read, is compressed, or is no regular file: of a pipe the beginning would be lost.
Excerpt excerpt_of(const std::filesystem::path& file);
// Of a text that is in memory.
Excerpt excerpt_of_text(const std::string& text, const std::string& name);

}  // namespace linebounce::sim
