// How far simulated figures are from published ones: errors, signs, orders, counted over any rows.
#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/results/paper.hpp"

namespace linebounce::sim {

// What each row of a validation experiment came to when it was first run:
// configs/experiments/validation/records/NAME.json, which `validate --record` adds to and never changes.
// tools/lint_rows.py holds machines and rows to it.
struct FirstRun {
  std::string date;
  std::vector<std::optional<double>> simulated;  // one figure, or a series
  std::optional<double> change;                  // of a row that is relative to another point: a share of the base
  std::optional<ChangeSign> sign;
  bool ok = false;
  bool is_first = true;      // false: the row had been run before it was recorded, as its misses had been explained
  std::string because = {};  // what shows that it was, or wasn't, the first
};

// A row of an experiment of its own kind, with the machine that it is about.
struct ValidatedRow {
  std::string experiment, machine, family;
  PaperResult result;
  std::optional<FirstRun> first = {};
};

// The row as its first run had it. REQUIRES: it has one.
PaperResult at_first_run(const ValidatedRow& row);

// Whether today's figure is another than that of a first run.
bool has_moved(const ValidatedRow& row);

std::filesystem::path record_file(const std::string& experiment);

// By row; empty where there is no record. Errors: InputError.
std::map<std::string, FirstRun> read_first_runs(const std::filesystem::path& file);

// Adds the rows of one experiment that have been judged and aren't there yet, with the parameters that their machines' files
// give; the number of these rows. They are first runs unless the file explains a miss of one already. Errors: InputError,
// OutputError, ConfigError.
int record_first_runs(const std::filesystem::path& file, const std::vector<ValidatedRow>& rows, const std::string& date);

// What is aimed at, of predicted rows.
constexpr double kMedianErrorGoal = 0.15;
constexpr double kOrderGoal = 0.95;
constexpr double kSignGoal = 28.0 / 30;

// Simulated over published figure. Of a change both are taken as factors, 1.43 for +43 %; one so small that no change at all
// would be within 15 % says nothing by its size, and counts by its sign alone. Infinite where the run has no such figure. Empty
// for what is no figure, for a figure of 0, and for shares of a measured table, which are judged in points.
std::optional<double> simulated_over_published(const PaperResult& result);

struct Tally {
  int right = 0;
  int of = 0;
  void count(bool is_right) {
    right += is_right ? 1 : 0;
    ++of;
  }
  [[nodiscard]] double share() const { return of == 0 ? 0 : static_cast<double>(right) / of; }
};

struct ValidationScore {
  int rows = 0;                 // that were judged
  std::vector<double> errors;   // |simulated / published - 1|, sorted
  std::vector<double> factors;  // that ratio or its inverse, whichever is larger, sorted
  Tally within_15, within_30;   // of these errors
  Tally signs;                  // of changes: gain, loss, no effect
  Tally orders;                 // of shapes and orders
  Tally within_tolerance;       // of all rows
  int guessed = 0;              // of all rows: how many trivial_guess() would have within tolerance
  int with_break = 0;           // of the hits: those that a broken mechanism would lose

  [[nodiscard]] std::optional<double> median_error() const;
  [[nodiscard]] std::optional<double> median_factor() const;
};

void count(ValidationScore& score, const PaperResult& result);

// What a figure is of: a time, a lock's columns, a change or a part of another figure, an order or shape, or anything else.
enum class FigureKind { latency, lock, ratio, order, other };
constexpr std::array<std::string_view, 5> kFigureKinds = {"latency", "lock", "ratio", "order", "other"};
FigureKind figure_kind(const PaperResult& result);

// Whether a guess that knows nothing of caches would have the row within its tolerance. It says that a change is none and a
// shape flat; of a share in a measured table, the best of 0, 33.3, 50, 66.7 and 100 %; of any other figure, the median of the
// same column's other figures in `rows`, which are the experiment's.
bool trivial_guess_is_right(const PaperResult& result, const std::vector<const PaperResult*>& rows);

// Of a row that has a sign and was run.
std::optional<bool> sign_is_right(const PaperResult& result);

// A row that is out of its tolerance, or has the wrong sign.
bool is_miss(const PaperResult& result);

// The misses: wrong signs, shapes and orders, then the figures, the farthest off first.
std::vector<const ValidatedRow*> misses_of(const std::vector<ValidatedRow>& rows);

}  // namespace linebounce::sim
