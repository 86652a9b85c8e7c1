// The beginning of a file. forms.hpp uses it to recognise the file's format.
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
    std::string text;  // without quote marks of e-mail, and without blanks at its ends
  };

  std::string name;   // the file's name, without its directory
  std::string bytes;  // at most 64 KiB; of a table with very many columns 4 MiB
  bool whole = true;  // true: `bytes` is the whole file
  bool is_text = true;
  std::vector<Line> lines;  // for a text: its non-empty lines, without a last one that is cut off

  [[nodiscard]] bool has(std::string_view text) const { return bytes.find(text) != std::string::npos; }
};

// Errors: trace::TraceError if the file is unreadable, compressed or wrapped (wrapped_text.hpp), or not a regular file.
// Reading from a pipe would consume its beginning.
Excerpt excerpt_of(const std::filesystem::path& file);
// The excerpt of a text in memory.
Excerpt excerpt_of_text(const std::string& text, const std::string& name);

}  // namespace linebounce::sim
