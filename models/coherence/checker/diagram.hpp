// A message-sequence diagram in plain text. Time runs downwards. Each column has a lifeline, a vertical line of '|'.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace linebounce::checker {

class Diagram {
 public:
  Diagram(int columns, std::size_t column_width) : columns_(columns), width_(column_width) {}

  // Adds a line with one text for each column. A column with an empty text shows its lifeline.
  void cells(const std::string& margin, const std::vector<std::string>& texts);
  void gap() { cells("", std::vector<std::string>(columns_)); }
  // Adds each column's notes, one below the other.
  void notes(const std::vector<std::vector<std::string>>& notes);
  // Adds an arrow from column `from` that spans the columns `first` to `last`. If `passes`, the columns between these two get
  // no arrowhead, because the message only passes them. REQUIRES: first < last.
  void arrow(const std::string& margin, std::size_t from, std::size_t first, std::size_t last, const std::string& label,
             bool passes);

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void add(const std::string& margin, const std::string& line);

  std::size_t columns_, width_;
  std::string text_;
};

}  // namespace linebounce::checker
