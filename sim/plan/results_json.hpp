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

// The content of a results.json. points[k] is point number k of the plan, without metrics if it has not finished.
struct Results {
  std::string experiment;
  std::string machine;
  std::uint64_t seed = 1;
  std::vector<HeadlineMetric> headlines;
  std::vector<ReportedPoint> points;
  std::vector<PaperResult> paper;
  Question question;
  Answer answer;
  std::vector<std::string> assumptions = {};  // about the machines, worded by assumptions_of()
};

// The file's text. Members in the order of docs/results.schema.json, metrics sorted by name.
std::string results_text(const Results& results);

nlohmann::ordered_json paper_to_json(const PaperResult& result);

// The point of the answer in a results.json, if there is an answer. Errors: as for read_points().
std::optional<int> read_answered_point(const std::string& text);

// Each reads only one part of results.json. Errors: InputError, which says what is wrong, but not in which file; the caller
// knows that.
std::vector<ReportedPoint> read_points(const std::string& text);
std::vector<std::string> read_assumptions(const std::string& text);

}  // namespace linebounce::sim
