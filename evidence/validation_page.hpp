// One page with all published figures beside the simulated ones: how close they are, how often a change has the right sign,
// and which figures are missed.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "evidence/validation.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

constexpr std::string_view kLatencies = "latency";
constexpr std::string_view kDocuments = "documents";  // the family of all rows from the five documents

struct Validation {
  std::vector<ValidatedRow> rows;
  int experiments = 0;
  std::vector<std::string> not_run;  // experiments of the five documents that have no results
};

// A readable name: "hash tables".
std::string family_title(const std::string& family);

// Which rows to score. An empty `machine` means all machines. An empty `family` means all families without the rows that are
// scored on their own: those of kDocuments, and predicted latencies, which resemble those that were fitted.
struct ValidationGroup {
  PaperKind kind = PaperKind::predicted;
  std::string family = {};
  std::string machine = {};
};
ValidationScore score_of(const Validation& validation, const ValidationGroup& group, bool first_run = false);

// The scores by kind of row. README.md repeats these figures.
using OfKinds = std::map<PaperKind, ValidationScore>;
struct Verdicts {
  OfKinds present_day;                            // rows of the machines in latencies/ and validation/
  OfKinds documents;                              // the five documents' rows
  std::map<std::string, OfKinds> by_document;     // "ols2002"
  std::map<std::string, OfKinds> by_figure_kind;  // of all rows: "lock"
};
Verdicts verdicts_of(const Validation& validation);

// The families in order of their first row, without kDocuments.
std::vector<std::string> families_of(const Validation& validation);
std::vector<std::string> machines_of(const Validation& validation);

std::string validation_page(const Validation& validation, const Painter& paint);

}  // namespace linebounce::sim
