// A message-sequence diagram in characters. Time goes down; each column has a lifeline.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace linebounce::checker {

class Diagram {
 public:
  Diagram(int columns, std::size_t column_width) : columns_(static_cast<std::size_t>(columns)), width_(column_width) {}

  // A line with one text for each column; a lifeline stands for an empty text.
  void cells(const std::string& margin, const std::vector<std::string>& texts);
  void gap() { cells("", std::vector<std::string>(columns_)); }
  // Notes below each other in their columns.
  void notes(const std::vector<std::vector<std::string>>& notes);
  // An arrow from column `from` across `first` to `last`. If it only passes the columns between, it reaches the two ends alone.
  // REQUIRES: first < last.
  void arrow(const std::string& margin, std::size_t from, std::size_t first, std::size_t last, const std::string& label,
             bool passes);

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void add(const std::string& margin, const std::string& line);

  std::size_t columns_, width_;
  std::string text_;
};

}  // namespace linebounce::checker
