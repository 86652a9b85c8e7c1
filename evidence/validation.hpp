// Measures how far simulated figures are from published ones, for any set of rows: errors, signs and orders.
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

// What a row of a validation experiment gave when it was first run. Stored in
// configs/experiments/validation/records/NAME.json; `validate --record` adds to that file and never changes what is there.
// tools/lint_rows.py compares machines and rows with it.
struct FirstRun {
  std::string date;
  std::vector<std::optional<double>> simulated;  // one figure, or a series
  // For a row relative to another point: the change as a share of that point's figure.
  std::optional<double> change;
  std::optional<ChangeSign> sign;
  bool ok = false;
  // False: the row must have been run before, because its miss was already explained when it was recorded.
  bool is_first = true;
  std::string because = {};  // the evidence for or against this being the first run
};

// A row of a validation experiment, with its machine.
struct ValidatedRow {
  std::string experiment, machine, family;
  PaperResult result;
  std::optional<FirstRun> first = {};
};

// The row with the result of its first run in place of today's. REQUIRES: its first run is recorded.
PaperResult at_first_run(const ValidatedRow& row);

// True if today's figure differs from that of the first run.
bool has_moved(const ValidatedRow& row);

std::filesystem::path record_file(const std::string& experiment);

// By row id; empty if the file does not exist. Errors: InputError.
std::map<std::string, FirstRun> read_first_runs(const std::filesystem::path& file);

// Adds the judged rows of one experiment that are not recorded yet, with the parameters in their machines' files. Returns how
// many it has added. They count as first runs unless the experiment's file already explains a miss of one of them. Errors:
// InputError, OutputError, ConfigError.
int record_first_runs(const std::filesystem::path& file, const std::vector<ValidatedRow>& rows, const std::string& date);

// The goals for rows that are predicted.
constexpr double kMedianErrorGoal = 0.15;
constexpr double kOrderGoal = 0.95;
constexpr double kSignGoal = 28.0 / 30;

// The simulated figure divided by the published one. Changes are compared as factors, such as 1.43 for +43 %. If a published
// change is so small that "no change" would be within 15 % of it, only its sign is judged. Infinite if the run has no such
// figure. Empty for rows without a figure, for a figure of 0, and for shares of a measured table, which are judged in
// percentage points.
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
  std::vector<double> factors;  // sorted; for each row the ratio of its figures or the inverse, whichever is larger
  Tally within_15, within_30;   // of these errors
  Tally signs;                  // for changes: gain, loss, no effect
  Tally orders;                 // for shapes and orders
  Tally within_tolerance;       // for all rows
  int guessed = 0;              // number of all rows for which trivial_guess_is_right()
  int with_break = 0;           // number of hits that are lost if a mechanism is broken on purpose

  [[nodiscard]] std::optional<double> median_error() const;
  [[nodiscard]] std::optional<double> median_factor() const;
};

void count(ValidationScore& score, const PaperResult& result);

// What a figure is: a time, a column of lockmeter's, a change or a part of another figure, an order or shape, or anything
// else.
enum class FigureKind { latency, lock, ratio, order, other };
constexpr std::array<std::string_view, 5> kFigureKinds = {"latency", "lock", "ratio", "order", "other"};
FigureKind figure_kind(const PaperResult& result);

// True if a guess that knows nothing of caches would be within the row's tolerance. It guesses that a change is zero and a
// shape flat. For a share in a measured table, it may choose the best of 0, 33.3, 50, 66.7 and 100 %. For any other figure,
// it guesses the median of the same column's other figures in `rows`, which are the experiment's rows.
bool trivial_guess_is_right(const PaperResult& result, const std::vector<const PaperResult*>& rows);

// True if the simulated change has the published sign; none if the row has no sign or was not run.
std::optional<bool> sign_is_right(const PaperResult& result);

// True if the row is outside its tolerance, or has the wrong sign.
bool is_miss(const PaperResult& result);

// The misses: first wrong signs, shapes and orders, then figures, the largest deviations first.
std::vector<const ValidatedRow*> misses_of(const std::vector<ValidatedRow>& rows);

}  // namespace linebounce::sim
