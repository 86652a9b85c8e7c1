#include "sim/config/paper_rows.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

#include "models/ordinal.hpp"
#include "sim/config/sweep.hpp"
#include "sim/config/table_reader.hpp"
#include "sim/results/paper.hpp"

namespace linebounce::sim {
namespace {

constexpr std::array<std::string_view, 4> kShapes = {"none", "increasing", "decreasing", "flat"};

template <class Enum, std::size_t n>
Enum from_word(const std::array<std::string_view, n>& words, const std::string& word) {
  return static_cast<Enum>(std::ranges::find(words, word) - words.begin());
}

std::string swept_path(const std::string& path, const Origin& origin, const ExperimentTables& tables) {
  const KeyInfo& key = tables.keys.require(path, origin);
  if (tables.swept.contains(key.path)) return path;
  std::vector<std::string> swept;
  for (const auto& [other, place] : tables.swept) swept.push_back(other);
  fail(origin, path,
       fmt::format("is not swept here, so it selects nothing; swept: {}",
                   swept.empty() ? "nothing" : fmt::format("{}", fmt::join(swept, ", "))));
}

class RowReader {
 public:
  RowReader(const toml::table& row, const ExperimentTables& tables) : reader_(row, tables.file, "paper"), tables_(tables) {}

  PaperRow read() {
    row_.id = reader_.required_text("id");
    metrics();
    row_.at = read_selection(reader_, "at", tables_).value_or(Selection{});
    if (const auto other = read_selection(reader_, "relative_to", tables_)) {
      row_.relative_to = row_.at;
      for (const auto& [path, value] : *other) row_.relative_to->insert_or_assign(path, value);
    }
    row_.of = reader_.text("of").value_or("");
    row_.difference = reader_.flag("difference").value_or(false);
    row_.value = reader_.number("value");
    row_.tolerance = reader_.number("tolerance", 0);
    row_.tolerance_abs = reader_.number("tolerance_abs", 0);
    change();
    const auto shape = reader_.text("shape", {"increasing", "decreasing", "flat"});
    if (shape) row_.shape = from_word<Shape>(kShapes, *shape);
    if (const auto over = reader_.text("over")) row_.over = swept_path(*over, reader_.origin_of("over"), tables_);
    row_.kind = read_kind(reader_, {kPaperKindWords.begin(), kPaperKindWords.end()}).value_or(PaperKind::predicted);
    row_.scored = reader_.flag("scored").value_or(true);
    row_.source = reader_.text("source").value_or("");
    row_.miss = reader_.text("miss", {kMissClasses.begin(), kMissClasses.end()}).value_or("");
    row_.why_off = reader_.text("why_off").value_or("");
    row_.reason_tested = reader_.text("reason_tested").value_or("");
    row_.broken_by = reader_.text("broken_by").value_or("");
    reader_.finish();
    check();
    return row_;
  }

 private:
  void metrics() {
    const auto* order = reader_.array("order");
    const auto metric = reader_.text("metric");
    if ((order != nullptr) == metric.has_value())
      reader_.refuse(order ? "order" : "id", "a row has either metric = \"NAME\" or order = [\"NAME\", ...]");
    if (metric) row_.metrics = {*metric};
    if (!order) return;
    for (const auto& element : *order) row_.metrics.push_back(element.value_or(std::string{}));
    const bool names = std::ranges::none_of(row_.metrics, [](const auto& name) { return name.empty(); });
    if (row_.metrics.size() < 2 || !names) reader_.refuse("order", "expected a list of two or more metrics, as texts");
  }

  void change() {
    if (const auto word = reader_.text("sign", {kSignWords.begin(), kSignWords.end()}))
      row_.sign = from_word<ChangeSign>(kSignWords, *word);
    if (const auto word = reader_.text("better", {"higher", "lower"}))
      row_.better = *word == "higher" ? Better::higher : Better::lower;
    const auto visible = reader_.number("visible", 0);
    row_.visible = visible.value_or(kVisibleChange);
    if (visible && !row_.relative_to) reader_.refuse("visible", "needs relative_to, the base of the change");
  }

  // Checks that the row's fields fit together. A row needs exactly one of these: an order, a shape, or a figure. A figure is
  // a value, a sign, or both.
  void check() const {
    const bool is_order = row_.metrics.size() > 1;
    const bool is_shape = row_.shape != Shape::none;
    if (is_order + is_shape + (row_.value || row_.sign) != 1) {
      reader_.refuse("id", fmt::format("row {} needs exactly one of value, sign, shape and order", row_.id));
    }
    if (is_shape == row_.over.empty()) reader_.refuse(is_shape ? "shape" : "over", "shape and over = \"PATH\" go together");
    if (row_.over.empty() == false && row_.at.contains(row_.over))
      reader_.refuse("at", fmt::format("{} cannot be in `at` and in `over`", row_.over));
    if (row_.difference && !row_.relative_to) reader_.refuse("difference", "a difference needs relative_to");
    if (row_.relative_to && !row_.value && !row_.sign)
      reader_.refuse("relative_to", "only a row with a value or a sign can be relative");
    if (!row_.of.empty() && (!row_.value || row_.relative_to))
      reader_.refuse("of", "a part of another metric has a value and no relative_to");
    if (!row_.miss.empty() && row_.why_off.empty()) reader_.refuse("miss", "needs why_off, the reason that it classifies");
    if (!row_.reason_tested.empty() && row_.why_off.empty())
      reader_.refuse("reason_tested", "needs why_off, the reason that it tests");
    if (!row_.broken_by.empty() && row_.kind != PaperKind::predicted)
      reader_.refuse("broken_by", "needs kind = \"predicted\": it names a change that would break the prediction");
    sign();
    tolerances(is_order);
  }

  void sign() const {
    if (row_.better && !row_.relative_to) reader_.refuse("better", "needs relative_to, the base of the change");
    if (!row_.sign) return;
    if (!row_.relative_to) reader_.refuse("sign", "needs relative_to: a gain or loss is measured against something");
    if (row_.is_sign_alone() && row_.difference) reader_.refuse("difference", "a sign alone is neither ratio nor difference");
    if (direction_of(row_) == Better::neither) {
      reader_.refuse("sign",
                     fmt::format("whether more of {} is better is declared nowhere: say better = \"higher\" or \"lower\"",
                                 row_.metrics.front()));
    }
    const bool up = direction_of(row_) == Better::higher;
    const bool rose = row_.value.value_or(0) > 0;
    if (row_.value && row_.sign != ChangeSign::none && (*row_.value == 0 || (up == rose) != (row_.sign == ChangeSign::gain)))
      reader_.refuse("sign", fmt::format("{} of {} is none where {} is better", *row_.value, row_.metrics.front(),
                                         to_string(direction_of(row_))));
  }

  void tolerances(bool is_order) const {
    if (row_.tolerance && row_.tolerance_abs)
      reader_.refuse("tolerance_abs", "a row has one tolerance: relative (tolerance) or absolute (tolerance_abs)");
    const bool any = row_.tolerance || row_.tolerance_abs;
    const bool needed = (row_.value && row_.kind != PaperKind::input) || row_.shape == Shape::flat;
    if (needed && !any) reader_.refuse("id", fmt::format("row {} needs tolerance (relative) or tolerance_abs", row_.id));
    const char* const given = row_.tolerance ? "tolerance" : "tolerance_abs";
    if (any && row_.is_sign_alone()) reader_.refuse(given, "a sign alone has no tolerance; `visible` is what counts as none");
    const bool unused = is_order || row_.shape == Shape::increasing || row_.shape == Shape::decreasing;
    if (any && unused) reader_.refuse(given, "an order and a rising or falling shape have no tolerance");
  }

  TableReader reader_;
  const ExperimentTables& tables_;
  PaperRow row_;
};

std::string selection_text(const Selection& at) {
  std::string text;
  for (const auto& [path, value] : at) text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", path, plain_text(value));
  return text.empty() ? "(nothing)" : text;
}

std::vector<const PointPlace*> selected(const std::vector<PointPlace>& points, const Selection& at) {
  std::vector<const PointPlace*> out;
  for (const auto& point : points) {
    if (lies_at(point, at)) out.push_back(&point);
  }
  return out;
}

// Counts the distinct values of a path among these points.
std::size_t values_along(const std::vector<const PointPlace*>& points, const std::string& path) {
  std::set<ConfigValue> values;
  for (const auto* point : points) {
    for (const auto& [other, value] : point->at) {
      if (other == path) values.insert(value);
    }
  }
  return values.size();
}

toml::table row_table(const PaperRow& row) {
  toml::table table{{"id", row.id}, {"kind", word_of(row.kind)}, {"at", selection_table(row.at)}};
  if (row.metrics.size() == 1) {
    table.insert("metric", row.metrics.front());
  } else {
    toml::array order;
    for (const auto& metric : row.metrics) order.push_back(metric);
    table.insert("order", std::move(order));
  }
  if (!row.of.empty()) table.insert("of", row.of);
  if (row.relative_to) table.insert("relative_to", selection_table(*row.relative_to));
  if (row.difference) table.insert("difference", true);
  if (row.value) insert_value(table, "value", canonical(*row.value));
  if (row.sign) table.insert("sign", to_string(*row.sign));
  if (row.visible != kVisibleChange) insert_value(table, "visible", canonical(row.visible));
  if (row.better) table.insert("better", to_string(*row.better));
  if (row.tolerance) insert_value(table, "tolerance", canonical(*row.tolerance));
  if (row.tolerance_abs) insert_value(table, "tolerance_abs", canonical(*row.tolerance_abs));
  if (row.shape != Shape::none) table.insert("shape", std::string(kShapes.at(ordinal(row.shape))));
  if (!row.over.empty()) table.insert("over", row.over);
  if (!row.scored) table.insert("scored", false);
  if (!row.source.empty()) table.insert("source", row.source);
  if (!row.miss.empty()) table.insert("miss", row.miss);
  if (!row.why_off.empty()) table.insert("why_off", row.why_off);
  if (!row.reason_tested.empty()) table.insert("reason_tested", row.reason_tested);
  if (!row.broken_by.empty()) table.insert("broken_by", row.broken_by);
  return table;
}

}  // namespace

std::optional<PaperKind> read_kind(TableReader& reader, std::vector<std::string> legal) {
  const auto word = reader.text("kind", std::move(legal));
  if (!word) return std::nullopt;
  return from_word<PaperKind>(kPaperKindWords, *word);
}

std::string word_of(PaperKind kind) {
  return std::string(kPaperKindWords.at(ordinal(kind)));
}

std::optional<Selection> read_selection(TableReader& reader, const std::string& key, const ExperimentTables& tables) {
  const auto* table = reader.table(key);
  if (!table) return std::nullopt;
  Selection at;
  const auto base = std::filesystem::path(tables.file).parent_path();
  for (const auto& leaf : leaves(*table, "", tables.file, {})) {
    const auto path = swept_path(leaf.path, leaf.origin, tables);
    at.insert_or_assign(path, anchor_swept(path, checked(*tables.keys.find(path), leaf), base));
  }
  return at;
}

toml::table selection_table(const Selection& at) {
  toml::table table;
  for (const auto& [path, value] : at) insert_value(table, path, value);
  table.is_inline(true);
  return table;
}

std::vector<PaperRow> read_paper_rows(const toml::array& rows, const ExperimentTables& tables) {
  std::vector<PaperRow> paper;
  std::set<std::string> ids;
  for (const auto& element : rows) {
    const Origin here{place_of(tables.file, element.source())};
    if (!element.is_table()) fail(here, "paper", fmt::format("expected [[paper]] tables, found {}", describe_node(element)));
    paper.push_back(RowReader(*element.as_table(), tables).read());
    if (!ids.insert(paper.back().id).second)
      fail(here, "paper.id", fmt::format("\"{}\" is used by another row: ids are unique", paper.back().id));
  }
  return paper;
}

void check_selections(const std::vector<PaperRow>& paper, const toml::array& rows, const std::vector<PointPlace>& points,
                      const std::string& file) {
  for (std::size_t i = 0; i < paper.size(); ++i) {
    const PaperRow& row = paper[i];
    const Origin here{place_of(file, rows[i].source())};
    const auto at = selected(points, row.at);
    if (row.shape != Shape::none) {
      const bool line = at.size() >= 2 && values_along(at, row.over) == at.size();
      if (!line)
        fail(here, "paper.at",
             fmt::format("row {}: {} selects {} points, which make no line over {}; fix every other swept path", row.id,
                         selection_text(row.at), at.size(), row.over));
      continue;
    }
    if (at.size() != 1)
      fail(here, "paper.at",
           fmt::format("row {}: {} selects {} points; a row needs exactly one", row.id, selection_text(row.at), at.size()));
    const auto base = row.relative_to ? selected(points, *row.relative_to).size() : 1;
    if (base != 1)
      fail(
          here, "paper.relative_to",
          fmt::format("row {}: {} selects {} points; a row needs exactly one", row.id, selection_text(*row.relative_to), base));
  }
}

toml::array paper_table(const std::vector<PaperRow>& rows) {
  toml::array paper;
  for (const auto& row : rows) paper.push_back(row_table(row));
  return paper;
}

}  // namespace linebounce::sim
