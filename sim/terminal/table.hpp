// Tables of cells in columns. Widths count characters, not bytes.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

enum class Fit {
  figure,  // right-aligned; a longer text extends to the left
  name,    // broken into lines of the column's width, after a dot or an underscore if possible
  text,    // left-aligned; a longer text shifts the cells after it
  prose,   // broken into lines
};

struct Column {
  std::string title;
  Fit fit = Fit::figure;
  std::size_t width = 0;  // 0: that of the widest cell, for names as far as there is room; for prose, the rest of the line
  std::size_t gap = 0;    // spaces before the column
  Colour colour = Colour::bold;  // of the title
  // Rank for dropping columns that don't fit: the highest rank goes first; 0: never dropped.
  int dispensable = 0;
};

inline Column dispensable(Column column, int rank) {
  column.dispensable = rank;
  return column;
}

inline Column figures(std::string title, std::size_t width, std::size_t gap = 0) {
  return {std::move(title), Fit::figure, width, gap};
}
inline Column names(std::string title, std::size_t width = 0, std::size_t gap = 0) {
  return {std::move(title), Fit::name, width, gap};
}
inline Column words(std::string title, std::size_t width = 0, std::size_t gap = 0) {
  return {std::move(title), Fit::text, width, gap};
}
inline Column prose(std::string title, std::size_t width = 0, std::size_t gap = 0) {
  return {std::move(title), Fit::prose, width, gap};
}

struct Cell {
  Cell(std::string its_text, Colour its_colour = Colour::none)  // NOLINT(google-explicit-constructor): mostly no more than text
      : text(std::move(its_text)), colour(its_colour) {}
  Cell(const char* its_text) : text(its_text) {}  // NOLINT(google-explicit-constructor)

  std::string text;
  Colour colour = Colour::none;
};

class Table {
 public:
  // If any column has a title, the titles are the first row.
  Table(std::vector<Column> columns, const Painter& paint, std::size_t indent = 2);

  // May have fewer cells than there are columns.
  void add(std::vector<Cell> cells);
  // Adds a horizontal line across the table.
  void add_rule();
  // Adds text between rows, unchanged. REQUIRES: it ends with a newline.
  void add_text(std::string lines);

  // The whole table, drawn or in Markdown as the painter's TableForm says.
  [[nodiscard]] std::string text() const;

 private:
  struct Row {
    std::vector<Cell> cells;
    std::string text{};
    bool rule = false;
  };
  struct Place {
    std::size_t begin, width;
  };
  using Lines = std::vector<std::string>;

  [[nodiscard]] std::string markdown() const;
  [[nodiscard]] std::vector<Place> places() const;
  [[nodiscard]] std::vector<std::size_t> widths() const;
  [[nodiscard]] Table without(std::size_t column) const;
  [[nodiscard]] Lines lines_of(const Cell& cell, const Column& column, const Place& place) const;
  [[nodiscard]] std::string row_text(const std::vector<Cell>& cells, const std::vector<Place>& places) const;

  std::vector<Column> columns_;
  const Painter& paint_;
  std::size_t indent_;
  std::vector<Row> rows_;
};

// A table with a column of labels, `width` characters wide including a space, and a column of prose.
Table labelled(std::size_t width, const Painter& paint);

}  // namespace linebounce::sim
