// What a run says, decided once: the terminal, the report, results.json, `compare` and the library show this text, and
// everything else that is shown of one point is of `point`.
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
  std::string text;                   // what wins, by how much, where the order changes, what stands against it
  std::string why;                    // the largest term of the difference; empty: the results don't show it
  std::vector<std::string> doubts;    // warnings about points, alike ones together
  std::string metric;                 // by which it judges; empty: no point finished
  std::string compared, over;         // paths; empty: none
  std::optional<int> point;           // the one that the text speaks of
  std::optional<int> runner_up;       // the one that it is compared with
  std::vector<ConfigValue> featured;  // of many alternatives those that matter: the best three, and who leads elsewhere
};

// What a metric was in each run of a point, by seed; empty with one run.
using SeedsOfPoint = std::function<std::map<std::uint64_t, double>(int point, const std::string& metric)>;

struct AnswerInput {
  const Question& question;
  const std::vector<HeadlineMetric>& headlines;
  const std::vector<ReportedPoint>& points;
  SeedsOfPoint seeds;  // none: points are told apart by their own intervals
  int cpus = 0;        // of the machine, where the sweep does not say; 0: unknown
};

Answer answer_of(const AnswerInput& input);

nlohmann::ordered_json answer_to_json(const Answer& answer, const Question& question);

}  // namespace linebounce::sim
