// results.json, schema linebounce.results/1: docs/results.schema.json.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sim/answer/answer.hpp"
#include "sim/results/headlines.hpp"
#include "sim/results/merge_seeds.hpp"
#include "sim/results/paper.hpp"

namespace linebounce::sim {

// The content of results.json. points[k] is point number k of the plan; it has no metrics if it did not finish.
struct Results {
  std::string experiment;
  std::string machine;
  std::uint64_t seed = 1;
  std::vector<HeadlineMetric> headlines;
  std::vector<ReportedPoint> points;
  std::vector<PaperResult> paper;
  Question question;
  Answer answer;
  std::vector<std::string> assumptions = {};  // assumptions about the machines, as assumptions_of() words them
};

// The file's text, with members in the order of docs/results.schema.json and metrics sorted by name.
std::string results_text(const Results& results);

nlohmann::ordered_json paper_to_json(const PaperResult& result);

// The point that the results' answer is about; none without an answer. Errors: as for read_points().
std::optional<int> read_answered_point(const std::string& text);

// Each function reads one part of results.json. Errors: InputError, which does not name the file; the caller adds that.
std::vector<ReportedPoint> read_points(const std::string& text);
std::vector<std::string> read_assumptions(const std::string& text);

}  // namespace linebounce::sim
