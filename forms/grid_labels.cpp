#include "forms/grid_labels.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "forms/line_file.hpp"

namespace linebounce::sim {
namespace {

// Returns the CPU numbers in a row of labels; empty if a cell is not a label, or two are equal.
std::vector<std::uint64_t> labels_of(const std::vector<GridCell>& cells) {
  std::vector<std::uint64_t> labels;
  std::set<std::uint64_t> distinct;
  for (const GridCell& cell : cells) {
    const auto number = label_number(cell.text);
    if (!number || !distinct.insert(*number).second) return {};
    labels.push_back(*number);
  }
  return labels;
}

bool counts_on(const std::vector<std::uint64_t>& labels) {
  for (std::size_t i = 1; i < labels.size(); ++i) {
    if (labels[i] != labels[i - 1] + 1) return false;
  }
  return true;
}

// True for 0, 1, 2, ... and 1, 2, 3, .... Such numbers are labels even if only one side of the grid has them.
bool is_sequence(const std::vector<std::uint64_t>& labels) {
  return !labels.empty() && labels.front() <= 1 && counts_on(labels);
}

GridRow first_cells(const std::vector<GridRow>& rows, std::size_t from) {
  GridRow cells;
  for (std::size_t i = from; i < rows.size(); ++i) {
    if (rows[i].empty()) return {};
    cells.push_back(rows[i].front());
  }
  return cells;
}

// A table whose first cell is empty may begin with a row of CPU numbers, or with the first CPU's latencies to the others.
enum class FirstRow : std::uint8_t { labels, latencies, unclear };

FirstRow first_row(const std::vector<std::uint64_t>& labels) {
  if (*std::ranges::min_element(labels) <= 1) return FirstRow::labels;
  return counts_on(labels) ? FirstRow::unclear : FirstRow::latencies;
}

bool is_zero(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0.") == text.npos;
}

bool is_nothing(std::string_view text) {
  return text.empty() || is_mark_of_diagonal(text);
}

}  // namespace

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789.,eE+") == text.npos;
}

bool is_mark_of_diagonal(std::string_view text) {
  constexpr std::array<std::string_view, 4> kMarks = {"x", "X", "self", "SELF"};
  return std::ranges::find(kMarks, text) != kMarks.end();
}

std::optional<std::uint64_t> label_number(std::string_view text) {
  for (const std::string_view before : {"CPU", "cpu", "Cpu", "core", "Core", "CORE", "P", "C"}) {
    if (!text.starts_with(before)) continue;
    text.remove_prefix(before.size());
    break;
  }
  if (text.ends_with(':')) text.remove_suffix(1);
  while (!text.empty() && (text.front() == ' ' || text.front() == '_' || text.front() == '#')) text.remove_prefix(1);
  return decimal(text);
}

void take_labels(NumberGrid& grid) {
  std::vector<GridRow>& rows = grid.rows;
  if (rows.size() < 2 || rows.front().empty()) return;
  const std::size_t width = rows.back().size();
  GridRow head = rows.front();
  // Cells separated by blanks can't be empty, so the head then has no cell for the corner.
  const bool has_corner = head.size() == rows[1].size();
  const bool corner_is_label = has_corner && !is_number(head.front().text);
  if (has_corner) head.erase(head.begin());
  const auto above = labels_of(head);
  const auto before = labels_of(first_cells(rows, 1));
  const auto head_alone = labels_of(rows.front()), before_alone = labels_of(first_cells(rows, 0));
  const bool is_framed = !above.empty() && above == before && (corner_is_label || !has_corner);
  const FirstRow first = is_framed && has_corner && is_nothing(rows.front().front().text) ? first_row(above) : FirstRow::labels;
  if (is_framed && first == FirstRow::unclear) {
    grid.problem = "these may be numbers of CPUs, or latencies; write CPU into the table's first cell, or 0";
    grid.problem_at = head.front();
    grid.is_refused_table = true;
  } else if (is_framed && first == FirstRow::labels) {
    rows.erase(rows.begin());
    for (GridRow& row : rows) row.erase(row.begin());
    grid.is_marked = true;
  } else if (rows.size() == width + 1 && head_alone.size() == width && is_sequence(head_alone)) {
    rows.erase(rows.begin());
    grid.is_marked = true;
  } else if (rows.size() + 1 == width && before_alone.size() == rows.size() && is_sequence(before_alone)) {
    for (GridRow& row : rows) {
      if (!row.empty()) row.erase(row.begin());
    }
    grid.is_marked = true;
  }
}

void complete_triangle(NumberGrid& grid) {
  std::vector<GridRow>& rows = grid.rows;
  if (rows.size() < 2) return;
  const bool grows = rows.front().size() < rows.back().size();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].size() != (grows ? i + 1 : rows.size() - i)) return;
  }
  const bool has_diagonal = std::ranges::all_of(rows, [grows](const GridRow& row) {
    const std::string_view text = grows ? row.back().text : row.front().text;
    return is_zero(text) || is_mark_of_diagonal(text);
  });
  const GridCell nothing{{}, rows.front().front().line, 1};
  if (!has_diagonal) rows.insert(grows ? rows.begin() : rows.end(), GridRow{});
  for (GridRow& row : rows) row.insert(grows ? row.end() : row.begin(), rows.size() - row.size(), nothing);
}

void complete_labelled_triangle(std::vector<GridRow>& rows) {
  if (rows.size() < 3) return;
  const std::size_t cpus = rows.size() - 1;
  GridRow head = rows.front();
  if (head.size() == cpus + 1) head.erase(head.begin());
  if (head.size() != cpus || labels_of(head).empty() || labels_of(head) != labels_of(first_cells(rows, 1))) return;
  const std::size_t diagonal = rows.back().size() == cpus + 1 || rows[1].size() == cpus + 1 ? 1 : 0;
  const auto has_form = [&](bool is_lower) {
    for (std::size_t i = 1; i <= cpus; ++i) {
      if (rows[i].size() != diagonal + (is_lower ? i : cpus - i + 1)) return false;
    }
    return true;
  };
  const bool is_lower = has_form(true);
  if (!is_lower && !has_form(false)) return;
  for (std::size_t i = 1; i <= cpus; ++i) {
    GridRow& row = rows[i];
    row.insert(is_lower ? row.end() : row.begin() + 1, cpus + 1 - row.size(), GridCell{{}, row.front().line, 1});
  }
}

void complete_ragged(std::vector<GridRow>& rows) {
  if (rows.size() < 3 || rows.size() != rows.front().size()) return;
  const GridRow head(rows.front().begin() + 1, rows.front().end());
  if (labels_of(head).empty() || labels_of(head) != labels_of(first_cells(rows, 1))) return;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const bool is_last_label = i + 1 == rows.size() && rows[i].size() == 1;
    if (rows[i].size() > rows.size() || (rows[i].size() < i && !is_last_label)) return;
  }
  for (GridRow& row : rows) row.resize(rows.size(), GridCell{{}, row.front().line, 1});
}

void take_out_last_cells(std::vector<GridRow>& rows) {
  constexpr std::size_t kFewestRows = 3;  // in two rows, the empty cells may be a third CPU's
  const std::size_t cells = rows.size() + 1;
  const auto ends_empty = [cells](const GridRow& row) { return row.size() == cells && row.back().text.empty(); };
  if (rows.size() < kFewestRows || !std::ranges::all_of(rows, ends_empty)) return;
  for (GridRow& row : rows) row.pop_back();
}

void clear_diagonal(NumberGrid& grid) {
  for (std::size_t i = 0; i < grid.rows.size(); ++i) {
    if (i < grid.rows[i].size() && is_mark_of_diagonal(grid.rows[i][i].text)) grid.rows[i][i].text = {};
  }
}

}  // namespace linebounce::sim
