#include "sim/terminal/table.hpp"

#include <algorithm>

#include "models/text/visible.hpp"

namespace linebounce::sim {
namespace {

constexpr std::size_t kShortestName = 12;
constexpr std::size_t kShortName = 20;  // the shortest width for names while a column can be dropped instead

// Replaces newlines and tabs by visible escapes, so that a name stays on one line. VisibleOutput escapes all other control
// characters but lets the painter's colours pass.
std::string on_one_line(const std::string& text) {
  if (text.find_first_of("\n\t") == std::string::npos) return text;
  std::string line;
  for (const char c : text) line += c == '\n' || c == '\t' ? visible_name({&c, 1}) : std::string(1, c);
  return line;
}

}  // namespace

Table::Table(std::vector<Column> columns, const Painter& paint, std::size_t indent)
    : columns_(std::move(columns)), paint_(paint), indent_(indent) {
  std::vector<Cell> titles;
  for (const Column& column : columns_) titles.emplace_back(column.title, column.colour);
  if (std::ranges::any_of(titles, [](const Cell& title) { return !title.text.empty(); })) add(std::move(titles));
}

void Table::add(std::vector<Cell> cells) {
  for (Cell& cell : cells) cell.text = on_one_line(cell.text);
  rows_.push_back({std::move(cells)});
}

void Table::add_rule() {
  rows_.push_back({{}, "", true});
}

void Table::add_text(std::string lines) {
  rows_.push_back({{}, std::move(lines)});
}

Table Table::without(std::size_t column) const {
  Table narrower = *this;
  narrower.columns_.erase(narrower.columns_.begin() + static_cast<std::ptrdiff_t>(column));
  for (Row& row : narrower.rows_) {
    if (row.cells.size() > column) row.cells.erase(row.cells.begin() + static_cast<std::ptrdiff_t>(column));
  }
  return narrower;
}

std::vector<std::size_t> Table::widths() const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    widths.push_back(columns_[i].width);
    if (columns_[i].width > 0 || columns_[i].fit == Fit::prose) continue;
    for (const Row& row : rows_) {
      if (i < row.cells.size()) widths[i] = std::max(widths[i], width_of(row.cells[i].text));
    }
  }
  std::size_t total = indent_;
  for (std::size_t i = 0; i < columns_.size(); ++i) total += columns_[i].gap + widths[i];
  const bool can_shed = std::ranges::any_of(columns_, [](const Column& column) { return column.dispensable > 0; });
  const std::size_t shortest = can_shed ? kShortName : kShortestName;
  // Takes width from the longest names first, which are then broken into lines.
  for (; total > paint_.columns(); --total) {
    std::size_t* longest = nullptr;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const bool shrinks = columns_[i].fit == Fit::name && columns_[i].width == 0 && widths[i] > shortest;
      if (shrinks && (longest == nullptr || widths[i] > *longest)) longest = &widths[i];
    }
    if (longest == nullptr) break;
    --*longest;
  }
  return widths;
}

std::vector<Table::Place> Table::places() const {
  std::vector<Place> places;
  std::size_t at = indent_;
  const std::vector<std::size_t> all = widths();
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    places.push_back({at + columns_[i].gap, all[i]});
    at = places.back().begin + all[i];
  }
  return places;
}

Table::Lines Table::lines_of(const Cell& cell, const Column& column, const Place& place) const {
  if (column.fit == Fit::name) return wrapped_name(cell.text, std::max<std::size_t>(1, place.width));
  if (column.fit != Fit::prose) return {cell.text};
  return wrapped(cell.text, place.width > 0 ? place.width : paint_.wrap_at() - place.begin);
}

std::string Table::row_text(const std::vector<Cell>& cells, const std::vector<Place>& places) const {
  std::vector<Lines> parts;
  std::size_t lines = 1;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    parts.push_back(lines_of(cells[i], columns_[i], places[i]));
    lines = std::max(lines, parts.back().size());
  }
  std::string out;
  for (std::size_t line = 0; line < lines; ++line) {
    std::size_t at = 0;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (line >= parts[i].size() || parts[i][line].empty()) continue;
      const std::string& text = parts[i][line];
      std::size_t begin = places[i].begin;
      if (columns_[i].fit == Fit::figure) {
        const std::size_t end = begin + places[i].width;
        begin = end - std::min(end, width_of(text));
        if (begin == at && at > 0) ++begin;
      }
      if (columns_[i].fit == Fit::prose && at > begin) {
        out += "\n";
        at = 0;
      }
      if (at > begin) begin = at + 1;
      out += std::string(begin - at, ' ') + paint_(cells[i].colour, text);
      at = begin + width_of(text);
    }
    out += "\n";
  }
  return out;
}

// The first row becomes the table's head. Blank lines separate the table from the text around it.
std::string Table::markdown() const {
  const auto line = [this](const std::vector<Cell>& cells) {
    std::string out = "|";
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      out += ' ';
      if (i < cells.size()) {
        for (const char c : without_trailing_spaces(cells[i].text)) out += c == '|' ? "\\|" : std::string(1, c);
      }
      out += " |";
    }
    return out + "\n";
  };
  std::string rule = "|";
  for (const Column& column : columns_) rule += column.fit == Fit::figure ? "---:|" : "---|";
  std::string out = "\n";
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Row& row = rows_[i];
    if (!row.rule) out += line(row.text.empty() ? row.cells : std::vector<Cell>{row.text});
    if (i == 0) out += rule + "\n";
  }
  return out + "\n";
}

std::string Table::text() const {
  if (paint_.tables() == TableForm::markdown) return markdown();
  const std::vector<Place> all = places();
  const auto least =
      std::ranges::max_element(columns_, [](const Column& a, const Column& b) { return a.dispensable < b.dispensable; });
  const bool too_wide = !all.empty() && all.back().begin + all.back().width > paint_.columns();
  if (too_wide && least->dispensable > 0) return without(least - columns_.begin()).text();
  std::string out;
  for (const Row& row : rows_) {
    if (row.rule) {
      const std::size_t width = all.back().begin + all.back().width - indent_;
      out += std::string(indent_, ' ') + paint_(Colour::dim, repeated("─", width)) + "\n";
    } else {
      out += row.text.empty() ? row_text(row.cells, all) : row.text;
    }
  }
  return out;
}

Table labelled(std::size_t width, const Painter& paint) {
  return {{words("", width), prose("")}, paint};
}

}  // namespace linebounce::sim
