// Edits a source file line by line, and shows all edits as a unified diff.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace linebounce::sim {

// Removes blanks and tabs at both ends. Unlike trimmed(), keeps a carriage return, which is part of the line's end.
std::string without_ends(const std::string& text);

// A source file. Line numbers begin at 1. Searches use code(), where blanks replace comments and the contents of strings, so
// that columns stay the same.
class SourceText {
 public:
  SourceText(std::filesystem::path path, std::string_view text);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] int line_count() const { return static_cast<int>(lines_.size()); }
  [[nodiscard]] const std::string& code(int line) const { return code_.at(line - 1); }
  [[nodiscard]] const std::string& original(int line) const { return lines_.at(line - 1); }

  // Inserts text into a line, before `column` (from 0) of the original line.
  void insert(int line, std::size_t column, const std::string& text);
  // Replaces `bytes` bytes of a line. REQUIRES: no other edit overlaps them.
  void replace(int line, std::size_t column, std::size_t bytes, const std::string& text);
  void remove(int line);
  // Inserts whole lines before `line`. Repeated calls insert in the order of the calls.
  void insert_before(int line, const std::string& text);

  [[nodiscard]] bool is_changed() const;
  [[nodiscard]] std::string text() const;
  // Returns the diff, with three lines of context; empty if nothing has changed. `name`: the file's name in the diff.
  // REQUIRES: if the file does not end with a newline, its last line is unchanged.
  [[nodiscard]] std::string diff(const std::string& name) const;

 private:
  struct Change {
    std::size_t column, bytes;
    std::string text;
  };
  struct LineEdit {
    std::vector<Change> changes;
    std::vector<std::string> before;
    bool removed = false;
  };
  [[nodiscard]] std::vector<std::string> edited(int line) const;

  std::filesystem::path path_;
  std::vector<std::string> lines_, code_;
  std::map<int, LineEdit> edits_;
  bool ends_with_newline_ = true;
};

}  // namespace linebounce::sim
