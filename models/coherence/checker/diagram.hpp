// A message-sequence diagram in characters: time goes down, one lifeline a column.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace linebounce::checker {

class Diagram {
 public:
  Diagram(int columns, std::size_t column_width) : columns_(static_cast<std::size_t>(columns)), width_(column_width) {}

  // One text for each column; a lifeline where it is empty.
  void cells(const std::string& margin, const std::vector<std::string>& texts);
  void gap() { cells("", std::vector<std::string>(columns_)); }
  // As many lines as the longest column has.
  void notes(const std::vector<std::vector<std::string>>& notes);
  // From one column to all from `first` to `last`; what only passes those between stops at the ends. REQUIRES: first < last.
  void arrow(const std::string& margin, std::size_t from, std::size_t first, std::size_t last, const std::string& label,
             bool passes);

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void add(const std::string& margin, const std::string& line);

  std::size_t columns_, width_;
  std::string text_;
};

}  // namespace linebounce::checker
