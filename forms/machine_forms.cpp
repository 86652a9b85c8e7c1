// Recognises files from which a machine can be calibrated: core-to-core matrices and linebounce-probe's output.
// commands/calibrate reads them.
#include <algorithm>

#include "forms/forms.hpp"
#include "forms/line_file.hpp"
#include "forms/machine_topology.hpp"
#include "forms/number_grid.hpp"

namespace linebounce::sim {
namespace {

bool is_figure(std::string_view text) {
  // Also accepts an empty cell, since a pair may have been measured in only one direction.
  return text.find_first_not_of("0123456789.,eE+") == text.npos;
}

Likeness matrix_likeness(const Excerpt& excerpt) {
  if (!excerpt.is_text || excerpt.has("#HWCs ") || is_lscpu_table(excerpt)) return {};
  // Leaves out the last row, which may be cut off, unless the excerpt is the whole file.
  const std::string_view all = excerpt.bytes;
  const std::string_view text = excerpt.whole ? all : all.substr(0, all.rfind('\n') + 1);
  const NumberGrid grid = split_grid(text);
  if (grid.is_refused_table) return {Likeness::Sure::possible, "it is a table of figures with CPUs' numbers"};
  if (!grid.problem.empty() || grid.rows.empty()) return {};
  const auto has_figures = [](const GridRow& row) {
    return std::ranges::all_of(row, [](const GridCell& cell) { return is_figure(cell.text); });
  };
  const auto misfit = std::ranges::find_if_not(grid.rows, has_figures);
  if (misfit != grid.rows.end()) return {.first_misfit = misfit->empty() ? 0 : static_cast<std::int64_t>(misfit->front().line)};
  const std::size_t columns = grid.rows.front().size();
  const bool is_even =
      columns > 1 && std::ranges::all_of(grid.rows, [columns](const GridRow& row) { return row.size() == columns; });
  // The excerpt may not contain the last rows of a large grid.
  if (!is_even || (excerpt.whole ? !grid.is_square() : grid.rows.size() > columns)) return {};
  return {grid.is_marked ? Likeness::Sure::certain : Likeness::Sure::possible,
          grid.is_marked ? "its rows and columns are numbered alike" : "it has as many rows as columns, all of figures"};
}

}  // namespace

Form matrix_form() {
  return {.name = "matrix",
          .kind = FormKind::machine,
          .what = "a core-to-core matrix of latencies in ns: core-to-core-latency, c2clat, a spreadsheet",
          .marks = "a row and a column of figures for each CPU, between commas, semicolons, tabs or blanks",
          .likeness = matrix_likeness};
}

Form mctop_form() {
  return {.name = "mctop",
          .kind = FormKind::machine,
          .what = "MCTOP's description of a machine (.mct)",
          .marks = "#NAME #HWCs N #Nodes N SMT N",
          .likeness = [](const Excerpt& excerpt) {
            return certain_if(excerpt.is_text && excerpt.has("#HWCs ") && excerpt.has("#Nodes "), "its first line says so");
          }};
}

Form probe_form() {
  return {.name = "probe",
          .kind = FormKind::machine,
          .what = "what linebounce-probe writes",
          .marks = "its head",
          .likeness = [](const Excerpt& excerpt) {
            const bool has_mark = std::ranges::any_of(
                excerpt.lines, [](const Excerpt::Line& line) { return line.text.starts_with("probe_format"); });
            return certain_if(has_mark, "it names its format");
          }};
}

}  // namespace linebounce::sim
