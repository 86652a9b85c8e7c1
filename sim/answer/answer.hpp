// A run's answer, decided once. The terminal, the report, results.json, `compare` and the library all show this text.
// Whatever they show of a single point is about `point`.
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
#include "sim/results/paper.hpp"

namespace linebounce::sim {

struct Answer {
  std::string text;                 // which alternative wins, by how much, where the order changes, and caveats
  std::string why;                  // the largest term of the difference; empty if the results don't show it
  std::vector<std::string> doubts;  // warnings about points; similar ones are merged
  std::string metric;               // the metric that decides; empty if no point finished
  std::string compared, over;       // paths; empty: none
  std::optional<int> point;         // the point that the text is about
  std::optional<int> runner_up;     // the point that it is compared with
  // The alternatives worth showing among many: the best three, and those that lead elsewhere.
  std::vector<ConfigValue> featured;
};

// A metric in each run of a point, by seed; empty if there is only one run.
using SeedsOfPoint = std::function<std::map<std::uint64_t, double>(int point, const std::string& metric)>;

struct AnswerInput {
  const Question& question;
  const std::vector<HeadlineMetric>& headlines;
  const std::vector<ReportedPoint>& points;
  SeedsOfPoint seeds;  // without it, points are compared by their own intervals
  int cpus = 0;        // CPUs of the machine, if the sweep does not set them; 0: unknown
};

Answer answer_of(const AnswerInput& input);

nlohmann::ordered_json answer_to_json(const Answer& answer, const Question& question);

}  // namespace linebounce::sim
