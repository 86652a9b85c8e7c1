// The answer of a run, which is decided here only. The terminal, the report, results.json, `compare` and the library all show
// this text. If they show a single point, it is `point`.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sim/answer/question.hpp"
#include "sim/results/headlines.hpp"
#include "sim/results/reported_point.hpp"

namespace linebounce::sim {

struct Answer {
  std::string text;                 // which alternative wins and by how much, where the order changes, and caveats
  std::string why;                  // the main cause of the difference; empty if the results don't show it
  std::vector<std::string> doubts;  // warnings about points; similar ones are merged
  std::string metric;               // the deciding metric; empty if no point finished
  std::string compared, over;       // paths; empty: none
  std::optional<int> point;         // the point that the text is about
  std::optional<int> runner_up;     // the point that `point` is compared with
  // With many alternatives, those worth showing: the best three, and those that lead elsewhere.
  std::vector<ConfigValue> featured;
};

// Returns a metric of a point by seed; empty if the point has only one run.
using SeedsOfPoint = std::function<std::map<std::uint64_t, double>(int point, const std::string& metric)>;

struct AnswerInput {
  const Question& question;
  const std::vector<HeadlineMetric>& headlines;
  const std::vector<ReportedPoint>& points;
  SeedsOfPoint seeds;  // paired values; if empty, points are compared by their own intervals
  int cpus = 0;        // the machine's number of CPUs, if the sweep does not vary it; 0: unknown
};

Answer answer_of(const AnswerInput& input);

nlohmann::ordered_json answer_to_json(const Answer& answer, const Question& question);

}  // namespace linebounce::sim
