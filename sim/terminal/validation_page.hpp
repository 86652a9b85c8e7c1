// All published figures and the simulated ones on one page: how close they are, how often the direction is right, and the
// misses.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/studies/validate/validation.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

constexpr std::string_view kLatencies = "latency";
constexpr std::string_view kDocuments = "documents";  // family of the rows from the five documents

struct Validation {
  std::vector<ValidatedRow> rows;
  int experiments = 0;
  std::vector<std::string> not_run;  // experiments of the five documents without results
};

// A readable name: "hash tables".
std::string family_title(const std::string& family);

// Chooses rows. An empty `machine` or `family` selects all. But rows of the five documents count only if `family` names them.
// A latency counts as a prediction only if `family` is that of latencies, because it is similar to what was fitted.
struct ValidationGroup {
  PaperKind kind = PaperKind::predicted;
  std::string family = {};
  std::string machine = {};
};
ValidationScore score_of(const Validation& validation, const ValidationGroup& group, bool first_run = false);

// How many rows of each kind are right. README repeats these figures.
using OfKinds = std::map<PaperKind, ValidationScore>;
struct Verdicts {
  OfKinds present_day;                            // the machines of latencies/ and validation/
  OfKinds documents;                              // the five documents' rows
  std::map<std::string, OfKinds> by_document;     // "ols2002"
  std::map<std::string, OfKinds> by_figure_kind;  // of all rows: "lock"
};
Verdicts verdicts_of(const Validation& validation);

// The families in the order in which they first occur, without that of the five documents.
std::vector<std::string> families_of(const Validation& validation);
std::vector<std::string> machines_of(const Validation& validation);

std::string validation_page(const Validation& validation, const Painter& paint);

}  // namespace linebounce::sim
