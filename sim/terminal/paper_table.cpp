#include "sim/terminal/paper_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/answer/quantity.hpp"
#include "sim/terminal/table.hpp"

namespace linebounce::sim {
namespace {

struct Widths {
  std::size_t name, paper, simulated, difference, kind, mark, gap;
  bool whole_marks;  // true: a row that is not scored says so, and a row that is off states its tolerance

  [[nodiscard]] std::size_t figures() const { return paper + simulated + difference; }
};

Widths widths_for(const Painter& paint) {
  constexpr Widths kWide = {38, 11, 12, 9, 10, 12, 2, true};
  constexpr Widths kNarrow = {0, 10, 11, 8, 10, 8, 1, false};
  if (!is_narrow(paint)) return kWide;
  Widths widths = kNarrow;
  widths.name = std::min(kWide.name, paint.columns() - 2 - kNarrow.figures() - kNarrow.kind - kNarrow.mark - 2 * kNarrow.gap);
  return widths;
}

// Rows with one heading. They cite the same source, or each cites its own and the sources begin alike (by_publication).
// Groups have the order in which their sources are first cited.
struct Group {
  std::string source;  // the heading: the source, or the beginning that all sources have in common
  std::vector<const PaperResult*> rows;
};

// The common beginning of both sources up to a comma or colon, or the whole source if one begins with the other. Empty if the
// common part contains no number (year, commit, section): it then only names the authors, who have other publications, too.
std::string common_head(const std::string& a, const std::string& b) {
  const std::size_t differ = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
  const auto ends = [differ](const std::string& text) {
    return differ == text.size() || text[differ] == ',' || text[differ] == ':';
  };
  const std::size_t mark = ends(a) && ends(b) ? differ : a.substr(0, differ).find_last_of(",:");
  if (mark == std::string::npos || a.find_first_of("0123456789") >= mark) return "";
  return a.substr(0, mark);
}

std::vector<Group> by_source(const std::vector<PaperResult>& rows) {
  std::vector<Group> groups;
  for (const PaperResult& row : rows) {
    if (!row.row.table.empty()) continue;
    auto group = std::ranges::find_if(groups, [&](const Group& g) { return g.source == row.row.source; });
    if (group == groups.end()) group = groups.insert(groups.end(), {row.row.source, {}});
    group->rows.push_back(&row);
  }
  return groups;
}

bool fits_beside_columns(const std::string& title, const Painter& paint) {
  return width_of(title) <= widths_for(paint).name + 1;
}

// Merges adjacent groups of one row each whose sources begin with the same publication. Otherwise each row that cites a
// figure of its own would get a table of its own.
std::vector<Group> by_publication(const std::vector<PaperResult>& rows, const Painter& paint) {
  std::vector<Group> merged;
  bool open = false;  // true if the last group may take in another row: each of its sources has one row
  for (Group& group : by_source(rows)) {
    const bool single = group.rows.size() == 1 && !fits_beside_columns(group.source, paint);
    const std::string head = single && open ? common_head(merged.back().source, group.source) : "";
    if (head.empty()) {
      merged.push_back(std::move(group));
    } else {
      merged.back().source = head;
      merged.back().rows.push_back(group.rows.front());
    }
    open = single;
  }
  return merged;
}

// The common beginning of all ids of a group, up to a dot. It is shown once, above the ids.
std::string common_prefix(const Group& group) {
  std::string prefix = group.rows.front()->row.id;
  for (const PaperResult* row : group.rows) {
    const auto differ = std::mismatch(prefix.begin(), prefix.end(), row->row.id.begin(), row->row.id.end()).first;
    prefix.erase(differ, prefix.end());
  }
  const std::size_t dot = prefix.rfind('.');
  return dot == std::string::npos ? "" : prefix.substr(0, dot + 1);
}

std::string tolerance_text(const PaperRow& row, const std::string& unit) {
  if (row.tolerance) return fmt::format(" ± {:g} %", *row.tolerance * 100);
  if (row.tolerance_abs) return " ± " + as_given(*row.tolerance_abs, unit);
  return "";
}

Cell mark(const PaperResult& result, bool whole) {
  const PaperRow& row = result.row;
  const char* not_scored = whole ? "· not scored" : "·";
  if (row.kind == PaperKind::input) return {not_scored, Colour::dim};
  if (!result.ok) return {result.problem.empty() ? not_scored : "· none", Colour::dim};
  if (*result.ok) return {"✓ within", Colour::green};
  const bool has_tolerance = whole && row.shape == Shape::none && row.value;
  return {"✗ off" + (has_tolerance ? tolerance_text(row, result.unit) : ""), Colour::red};
}

Cell kind_cell(PaperKind kind) {
  const Colour colour = kind == PaperKind::predicted ? Colour::cyan : kind == PaperKind::input ? Colour::dim : Colour::none;
  return {name_of(kind), colour};
}

// The deviation of the simulated value, in percent. For a change, it is that of the factors: +20 % if +50 % was published and
// +80 % simulated. Without a ratio, the difference of the values.
std::string difference_text(const PaperResult& result) {
  const PaperRow& row = result.row;
  if (row.value && row.is_change())
    return *row.value > -1 ? signed_percent((1 + *result.simulated) / (1 + *row.value) - 1) : "";
  if (result.ratio) return signed_percent(*result.ratio - 1);
  if (result.simulated && row.value) return fmt::format("{:+.4g}", *result.simulated - *row.value);
  return "";
}

std::string simulated_value(const PaperResult& result) {
  return result.row.value && result.row.is_change() ? signed_percent(*result.simulated)
                                                    : figure(*result.simulated, result.unit);
}

std::string series_text(const PaperResult& result) {
  const PaperRow& row = result.row;
  std::string text = row.metrics.size() > 1 ? "rising over " + std::to_string(row.metrics.size()) + " metrics:"
                                            : to_string(row.shape) + " over " + row.over + ":";
  const bool rates = result.unit == "1/s";  // each has a prefix of its own
  for (const auto& value : result.series) text += fmt::format(" {}", value ? figure(*value, rates ? result.unit : "") : "-");
  return result.unit.empty() || rates ? text : text + " " + shown_unit(result.unit);
}

void add_row(Table& table, const PaperResult& result, const std::string& prefix, const Painter& paint) {
  const Widths widths = widths_for(paint);
  const PaperRow& row = result.row;
  const Cell name = shortened(row.id.substr(prefix.size()), widths.name);
  const auto add = [&](const std::string& paper, const std::string& simulated, const std::string& difference) {
    table.add({name, paper, simulated, difference, kind_cell(row.kind), mark(result, widths.whole_marks)});
  };
  if (!result.problem.empty()) return add("", "", shortened(result.problem, widths.figures()));
  if (!result.series.empty()) {
    const std::string series = series_text(result);
    if (width_of(series) <= widths.figures()) return add("", "", series);
    add("", "", "");
    return table.add_text("      " + shortened(series, paint.columns() - 6) + "\n");
  }
  if (row.is_sign_alone()) {
    const SimulatedChange& change = *result.change;
    return add(std::string(to_string(*row.sign)), change.sign ? std::string(to_string(*change.sign)) : "",
               signed_percent(change.share));
  }
  add(published_value(row, result.unit), simulated_value(result), difference_text(result));
}

std::string group_text(const Group& group, const Painter& paint) {
  const std::string title = group.source.empty() ? "Paper" : group.source;
  const Widths widths = widths_for(paint);
  const bool beside_columns = fits_beside_columns(title, paint);
  Table table({{beside_columns ? title : "", Fit::text, widths.name, 0, Colour::bold},
               figures("paper", widths.paper),
               figures("simulated", widths.simulated),
               figures("off", widths.difference),
               words("", widths.kind, widths.gap),
               words("", widths.mark, widths.gap)},
              paint);
  table.add_rule();
  const std::string prefix = common_prefix(group);
  for (const PaperResult* row : group.rows) add_row(table, *row, prefix, paint);
  return (beside_columns ? "" : paragraph(title, 2, Colour::bold, paint)) + table.text();
}

std::string score_part(PaperKind kind, const Score& score, const Painter& paint) {
  const bool all = score.within == score.of;
  const Colour colour = all ? Colour::green : kind == PaperKind::calibrated ? Colour::red : Colour::yellow;
  return fmt::format("{} {}", name_of(kind), paint(colour, fmt::format("{} of {}", score.within, score.of)));
}

}  // namespace

std::string published_value(const PaperRow& row, const std::string& unit) {
  if (!row.value) return "";
  return row.is_change() ? signed_percent(*row.value) : as_given(*row.value, unit);
}

std::string name_of(PaperKind kind) {
  return kind == PaperKind::in_sight ? "in sight" : to_string(kind);
}

Score score_of(const std::vector<PaperResult>& rows, PaperKind kind) {
  Score score;
  for (const PaperResult& row : rows) {
    if (row.row.kind != kind || !row.ok) continue;
    ++score.of;
    score.within += *row.ok ? 1 : 0;
  }
  return score;
}

std::string paper_table(const std::vector<PaperResult>& rows, const Painter& paint) {
  std::string out;
  for (const Group& group : by_publication(rows, paint)) {
    if (!out.empty()) out += '\n';
    out += group_text(group, paint);
  }
  return out;
}

std::string score_text(const std::vector<PaperResult>& rows, const Painter& paint) {
  std::string text;
  for (const PaperKind kind : {PaperKind::calibrated, PaperKind::in_sight, PaperKind::predicted}) {
    const Score score = score_of(rows, kind);
    if (score.of > 0) text += (text.empty() ? "" : ", ") + score_part(kind, score, paint);
  }
  return text.empty() ? text : "within tolerance: " + text;
}

}  // namespace linebounce::sim
