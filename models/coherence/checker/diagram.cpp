#include "models/coherence/checker/diagram.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace linebounce::checker {

void Diagram::cells(const std::string& margin, const std::vector<std::string>& texts) {
  std::string line;
  for (std::size_t i = 0; i < columns_; ++i) {
    line += fmt::format("{:<{}}", texts[i].empty() ? "|" : texts[i].substr(0, width_ - 1), width_);
  }
  add(margin, line);
}

void Diagram::notes(const std::vector<std::vector<std::string>>& notes) {
  std::size_t lines = 0;
  for (const auto& column : notes) lines = std::max(lines, column.size());
  for (std::size_t i = 0; i < lines; ++i) {
    std::vector<std::string> texts;
    for (const auto& column : notes) texts.push_back(i < column.size() ? column[i] : "");
    cells("", texts);
  }
}

void Diagram::arrow(const std::string& margin, std::size_t from, std::size_t first, std::size_t last, const std::string& label,
                    bool passes) {
  std::string line(columns_ * width_, ' ');
  for (std::size_t i = 0; i < columns_; ++i) line[i * width_] = '|';
  std::fill(line.begin() + static_cast<std::ptrdiff_t>(first * width_),
            line.begin() + static_cast<std::ptrdiff_t>(last * width_) + 1, '-');
  for (std::size_t i = first; i <= last; ++i) {
    if (passes && i != first && i != last) continue;
    line[i * width_] = i < from ? '<' : i > from ? '>' : 'o';
  }
  // Puts the label next to the sender's column.
  const std::size_t place = from < last ? from * width_ + 3 : (from - 1) * width_ + 3;
  line.replace(place, label.size() + 2, " " + label + " ");
  add(margin, line);
}

void Diagram::add(const std::string& margin, const std::string& line) {
  text_ += fmt::format("{:>4}  {}", margin, line);
  text_.erase(text_.find_last_not_of(' ') + 1);
  text_ += '\n';
}

}  // namespace linebounce::checker
