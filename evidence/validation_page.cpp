#include "evidence/validation_page.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "models/ordinal.hpp"
#include "sim/answer/quantity.hpp"
#include "sim/terminal/paper_table.hpp"
#include "sim/terminal/table.hpp"

namespace linebounce::sim {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kFamilyTitles = {{
    {kLatencies, "latencies"},
    {"lock", "locks"},
    {"counter", "counters"},
    {"layout", "layouts"},
    {"allocator", "allocators"},
    {"hash_table", "hash tables"},
    {"kernel", "changes of a kernel"},
    {kDocuments, "the five documents"},
}};
constexpr std::array kScoredKinds = {PaperKind::calibrated, PaperKind::in_sight, PaperKind::predicted};

std::string kind_title(PaperKind kind) {
  return kind == PaperKind::calibrated ? "fitted" : name_of(kind);
}

std::string tally_text(const Tally& tally) {
  return tally.of == 0 ? "" : fmt::format("{} of {}", tally.right, tally.of);
}

std::string share_text(double share) {
  return std::isfinite(share) ? fmt::format("{:.1f} %", share * 100) : "no figure";
}

class ScoreTable {
 public:
  explicit ScoreTable(const Painter& paint)
      : table_({names("", 24), figures("rows", 5), figures("median off", 11), figures("within 15 %", 12),
                dispensable(figures("within 30 %", 12), 2), figures("sign", 9), figures("order", 9),
                dispensable(figures("tolerance", 11), 1)},
               paint) {}

  void heading(const std::string& text) {
    table_.add_rule();
    if (!text.empty()) table_.add({{text, Colour::dim}});
  }
  void add(const std::string& name, const ValidationScore& score) {
    if (score.rows == 0) return;
    const auto error = score.median_error();
    table_.add({name, std::to_string(score.rows), error ? share_text(*error) : "", tally_text(score.within_15),
                tally_text(score.within_30), tally_text(score.signs), tally_text(score.orders),
                tally_text(score.within_tolerance)});
  }
  [[nodiscard]] std::string text() const { return table_.text(); }

 private:
  Table table_;
};

std::string score_table(const Validation& validation, const Painter& paint) {
  ScoreTable table(paint);
  table.heading("");
  for (const PaperKind kind : kScoredKinds) table.add(kind_title(kind), score_of(validation, {kind}));
  if (score_of(validation, {}).rows > 0) table.heading("predicted, by subject");
  for (const std::string& family : families_of(validation))
    table.add(family_title(family), score_of(validation, {PaperKind::predicted, family}));
  table.heading("by machine");
  for (const std::string& machine : machines_of(validation)) {
    const ValidationScore predicted = score_of(validation, {PaperKind::predicted, "", machine});
    table.add(machine, predicted);
    table.add(predicted.rows > 0 ? "  fitted" : machine + ": fitted",
              score_of(validation, {PaperKind::calibrated, "", machine}));
  }
  const std::string documents(kDocuments);
  const bool any = std::ranges::any_of(validation.rows, [](const ValidatedRow& row) { return row.family == kDocuments; });
  if (any) table.heading("the five documents");
  for (const PaperKind kind : kScoredKinds) table.add(kind_title(kind), score_of(validation, {kind, documents}));
  return table.text();
}

std::vector<const PaperResult*> rows_of_experiment(const Validation& validation, const std::string& experiment) {
  std::vector<const PaperResult*> rows;
  for (const ValidatedRow& row : validation.rows) {
    if (row.experiment == experiment) rows.push_back(&row.result);
  }
  return rows;
}

std::string within_text(const ValidationScore& score) {
  return score.rows == 0 ? "" : tally_text(score.within_tolerance);
}

std::string guessed_text(const ValidationScore& score) {
  return score.rows == 0 ? "" : std::to_string(score.guessed);
}

void add_verdict(Table& table, const std::string& name, OfKinds kinds) {
  const ValidationScore& in_sight = kinds[PaperKind::in_sight];
  const ValidationScore& predicted = kinds[PaperKind::predicted];
  table.add({name, within_text(kinds[PaperKind::calibrated]), within_text(in_sight), guessed_text(in_sight),
             within_text(predicted), guessed_text(predicted), predicted.rows == 0 ? "" : std::to_string(predicted.with_break)});
}

// Rows within their tolerance, in columns by what was known of the published figure when parameters were chosen. Also shows
// how many rows a trivial guess gets right, and how many predicted hits are lost when a mechanism is broken on purpose.
std::string verdict_table(const Validation& validation, const Painter& paint) {
  const Verdicts verdicts = verdicts_of(validation);
  Table table(
      {names("within tolerance", 24), figures("fitted", 10), figures("in sight", 11), dispensable(figures("guess", 6), 1),
       figures("predicted", 10), dispensable(figures("guess", 6), 1), figures("broken", 7)},
      paint);
  table.add_rule();
  add_verdict(table, "present-day machines", verdicts.present_day);
  if (!verdicts.by_document.empty()) add_verdict(table, "the five documents", verdicts.documents);
  for (const auto& [document, kinds] : verdicts.by_document) add_verdict(table, "  " + document, kinds);
  table.add_rule();
  for (const auto& [kind, kinds] : verdicts.by_figure_kind) add_verdict(table, kind, kinds);
  return table.text() + paragraph(
                            "guess: how many of them a guess that knows nothing of caches would have; broken: how many "
                            "predicted hits a break of configs/breaks.toml loses",
                            2, Colour::dim, paint);
}

std::string goal_text(const std::string& what, const std::string& found, bool reached, const std::string& goal,
                      const Painter& paint) {
  return "  " + pad_right(what, 34) + paint(reached ? Colour::green : Colour::yellow, pad_right(found, 20)) + "goal: " + goal +
         "\n";
}

std::string goals_text(const Validation& validation, const Painter& paint) {
  const ValidationScore score = score_of(validation, {});
  const auto error = score.median_error();
  std::string out;
  if (error)
    out += goal_text("median error of predicted figures", share_text(*error), *error <= kMedianErrorGoal,
                     fmt::format("{:g} %", kMedianErrorGoal * 100), paint);
  if (score.orders.of > 0)
    out += goal_text("order or shape right", tally_text(score.orders), score.orders.share() >= kOrderGoal,
                     fmt::format("{:g} %", kOrderGoal * 100), paint);
  if (score.signs.of > 0)
    out += goal_text("sign right: gain, loss or none", tally_text(score.signs), score.signs.share() >= kSignGoal, "28 of 30",
                     paint);
  return out;
}

std::string published_text(const PaperResult& result) {
  const PaperRow& row = result.row;
  if (row.is_order()) return "rising";
  if (row.shape != Shape::none) return to_string(row.shape);
  if (row.is_sign_alone()) return std::string(to_string(*row.sign));
  return published_value(row, result.unit);
}

std::string simulated_text(const PaperResult& result) {
  if (!result.problem.empty()) return "nothing";
  if (!result.series.empty()) {
    std::vector<std::string> values;
    for (const auto& value : result.series) values.push_back(value ? figure(*value, "") : "-");
    return fmt::format("{}", fmt::join(values, " "));
  }
  const PaperRow& row = result.row;
  if (result.change && !row.difference) return signed_percent(result.change->share);
  return result.simulated ? figure(*result.simulated, result.unit) : "";
}

std::string off_text(const PaperResult& result) {
  if (sign_is_right(result) == false) return "wrong sign";
  if (!result.series.empty()) return "wrong order";
  const auto ratio = simulated_over_published(result);
  return ratio && std::isfinite(*ratio) ? signed_percent(*ratio - 1) : "";
}

std::string reason_of(const PaperResult& result) {
  if (!result.row.why_off.empty()) return result.row.why_off;
  return result.problem.empty() ? "no reason known" : result.problem;
}

std::string misses_text(const Validation& validation, const Painter& paint) {
  const auto misses = misses_of(validation.rows);
  if (misses.empty()) return "";
  Table table({names("off, the worst first", is_narrow(paint) ? 34 : 46), figures("published", 12), figures("simulated", 12),
               figures("", 12)},
              paint);
  table.add_rule();
  for (const ValidatedRow* row : misses) {
    const PaperResult& result = row->result;
    const std::string simulated = simulated_text(result);
    const bool long_series = width_of(simulated) > 12;
    table.add({result.row.id, published_text(result), long_series ? "" : simulated, {off_text(result), Colour::red}});
    if (long_series) table.add_text(paragraph(simulated, 6, Colour::none, paint));
    table.add_text(paragraph(fmt::format("{}, {}: {}", kind_title(result.row.kind), row->machine, reason_of(result)), 6,
                             Colour::dim, paint));
  }
  return "\n" + table.text();
}

std::string first_runs_text(const Validation& validation, const Painter& paint) {
  const auto recorded = std::ranges::count_if(validation.rows, [](const auto& row) { return row.first.has_value(); });
  if (recorded == 0) return "";
  const ValidationScore first = score_of(validation, {}, true);
  const auto error = first.median_error();
  std::string out = "\n  " + paint(Colour::dim, "at first run") +
                    fmt::format("  {}{}{}{}\n", plural(static_cast<std::uint64_t>(first.rows), "predicted row"),
                                error ? ", median error " + share_text(*error) : "",
                                first.signs.of > 0 ? ", signs " + tally_text(first.signs) : "",
                                first.orders.of > 0 ? ", orders " + tally_text(first.orders) : "");
  const auto later = std::ranges::count_if(validation.rows, [](const auto& row) { return row.first && !row.first->is_first; });
  if (later > 0)
    out += paragraph(fmt::format("{} recorded after an earlier run, as reasons of misses show: not first",
                                 plural(static_cast<std::uint64_t>(later), "row")),
                     6, Colour::none, paint);
  for (const ValidatedRow& row : validation.rows) {
    if (!has_moved(row)) continue;
    const std::string before = simulated_text(at_first_run(row));
    const std::string now = simulated_text(row.result);
    if (before == now) continue;
    out +=
        paragraph(fmt::format("{}: {} on {}, now {}", row.result.row.id, before, row.first->date, now), 6, Colour::none, paint);
  }
  return out;
}

void add(ValidationScore& sum, const ValidationScore& one) {
  sum.rows += one.rows;
  sum.within_tolerance.right += one.within_tolerance.right;
  sum.within_tolerance.of += one.within_tolerance.of;
  sum.guessed += one.guessed;
  sum.with_break += one.with_break;
}

bool stands_apart(const ValidatedRow& row) {
  return row.family == kDocuments || (row.family == kLatencies && row.result.row.kind == PaperKind::predicted);
}

std::vector<std::string> distinct(const Validation& validation, std::string ValidatedRow::*member) {
  std::vector<std::string> found;
  for (const ValidatedRow& row : validation.rows) {
    if (row.family == kDocuments) continue;
    if (std::ranges::find(found, row.*member) == found.end()) found.push_back(row.*member);
  }
  return found;
}

}  // namespace

std::string family_title(const std::string& family) {
  const auto* const found = std::ranges::find_if(kFamilyTitles, [&](const auto& title) { return title.first == family; });
  return std::string(found == kFamilyTitles.end() ? "others" : found->second);
}

std::vector<std::string> families_of(const Validation& validation) {
  return distinct(validation, &ValidatedRow::family);
}

std::vector<std::string> machines_of(const Validation& validation) {
  return distinct(validation, &ValidatedRow::machine);
}

Verdicts verdicts_of(const Validation& validation) {
  Verdicts verdicts;
  for (const ValidatedRow& row : validation.rows) {
    if (!row.result.ok) continue;
    ValidationScore score;
    count(score, row.result);
    score.guessed = trivial_guess_is_right(row.result, rows_of_experiment(validation, row.experiment)) ? 1 : 0;
    const PaperKind kind = row.result.row.kind;
    const bool of_document = row.family == kDocuments;
    add(of_document ? verdicts.documents[kind] : verdicts.present_day[kind], score);
    if (of_document) add(verdicts.by_document[row.result.row.id.substr(0, row.result.row.id.find('.'))][kind], score);
    add(verdicts.by_figure_kind[std::string(kFigureKinds.at(ordinal(figure_kind(row.result))))][kind], score);
  }
  return verdicts;
}

ValidationScore score_of(const Validation& validation, const ValidationGroup& group, bool first_run) {
  ValidationScore score;
  for (const ValidatedRow& row : validation.rows) {
    if (row.result.row.kind != group.kind) continue;
    if (group.family.empty() ? stands_apart(row) : row.family != group.family) continue;
    if (!group.machine.empty() && row.machine != group.machine) continue;
    if (first_run && !(row.first && row.first->is_first)) continue;
    count(score, first_run ? at_first_run(row) : row.result);
  }
  return score;
}

std::string validation_page(const Validation& validation, const Painter& paint) {
  const auto rows = plural(validation.rows.size(), "row");
  std::string out =
      paint(Colour::bold, "Validation") + fmt::format("  {} of {} on {}\n\n", rows,
                                                      plural(static_cast<std::uint64_t>(validation.experiments), "experiment"),
                                                      plural(machines_of(validation).size(), "machine"));
  out += verdict_table(validation, paint) + "\n" + score_table(validation, paint) + "\n" + goals_text(validation, paint) +
         first_runs_text(validation, paint) + misses_text(validation, paint);
  if (!validation.not_run.empty())
    out += "\n" + paragraph(fmt::format("Not in it, as there are no results (--all runs them): {}",
                                        fmt::join(validation.not_run, ", ")),
                            2, Colour::dim, paint);
  return out;
}

}  // namespace linebounce::sim
