// What each row of a validation experiment came to when it was first run: configs/experiments/validation/records/NAME.json,
// which `validate --record` adds to and never changes. tools/lint_rows.py holds machines and rows to it.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/results/paper.hpp"

namespace linebounce::sim {

struct FirstRun {
  std::string date;
  std::vector<std::optional<double>> simulated;  // one figure, or a series
  std::optional<double> change;                  // of a row that is relative to another point: a share of the base
  std::optional<ChangeSign> sign;
  bool ok = false;
};

// A row of an experiment of its own kind, with the machine that it is about.
struct ValidatedRow {
  std::string experiment, machine, family;
  PaperResult result;
  std::optional<FirstRun> first = {};
};

// The row as its first run had it. REQUIRES: it has one.
PaperResult at_first_run(const ValidatedRow& row);

// Whether today's figure is another than the first run's.
bool has_moved(const ValidatedRow& row);

std::filesystem::path record_file(const std::string& experiment);

// By row; empty where there is no record. Errors: InputError.
std::map<std::string, FirstRun> read_first_runs(const std::filesystem::path& file);

// Adds the rows of one experiment that have been judged and aren't there yet, with the parameters that their machines' files
// give; the number of these rows. Errors: InputError, OutputError, ConfigError.
int record_first_runs(const std::filesystem::path& file, const std::vector<ValidatedRow>& rows, const std::string& date);

}  // namespace linebounce::sim
