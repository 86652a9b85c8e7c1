// Whatever a table holds, an answer exists if there is a figure to tell, and names a leader that its own metric puts first.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "sim/answer/answer.hpp"
#include "sim/answer/what_varies.hpp"
#include "sim/results/numbers.hpp"

namespace linebounce::sim {
namespace {

constexpr int kTablesPerCase = 50;  // of RapidCheck's hundred cases
constexpr const char* kRateMetric = "throughput.operations_per_s";
constexpr const char* kMissMetric = "latency.user_offchip.mean_ns";
constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

struct RandomTable {
  Question question;
  std::vector<HeadlineMetric> headlines;
  std::vector<ReportedPoint> points;
  std::map<std::pair<int, std::string>, std::map<std::uint64_t, double>> seeds;  // by point and metric
};

// Draws tables with everything that results may hold: ties, empty names, files of one name, single points, figures that are
// missing, zero, negative or no numbers, CPUs that starve everywhere, and runs of several seeds.
class TableMaker {
 public:
  explicit TableMaker(std::uint64_t seed) : random_(seed) {}

  RandomTable table() {
    RandomTable made;
    made.headlines = drawn_headlines();
    for (At& at : every_combination(drawn_axes())) made.points.push_back(point_at(std::move(at), made));
    if (one_in(8)) made.points.back().at.clear();
    if (one_in(4)) made.question.compare = "workload.count";
    if (one_in(8)) made.question.metric = "cost.addition";
    return made;
  }

 private:
  using At = std::vector<std::pair<std::string, ConfigValue>>;
  using Axis = std::pair<std::string, std::vector<ConfigValue>>;

  bool one_in(int n) { return below(n) == 0; }
  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }

  std::vector<HeadlineMetric> drawn_headlines() {
    std::vector<HeadlineMetric> all = {{kRateMetric, "operations", "1/s", Better::higher},
                                       {kMissMetric, "miss", "ns", Better::lower},
                                       {"cost.addition", "addition", "ns", Better::lower},
                                       {"replay.first_thread_over_us", "first thread over", "us", Better::neither}};
    std::ranges::shuffle(all, random_);
    all.resize(static_cast<std::size_t>(below(4)));
    return all;
  }

  std::vector<Axis> drawn_axes() {
    const auto text = [](const char* word) { return ConfigValue(std::string(word)); };
    std::vector<Axis> all = {
        {"workload.count", {text(""), text("per_thread hits+0"), text("a/x.lua"), text("b/x.lua"), text("striped")}},
        {"workload.lock", {text("none"), text("mcs"), text("ticket"), text("")}},
        {"workload.order", {std::int64_t{1}, std::int64_t{2}, std::int64_t{3}}},
        {"machine.cpus", {std::int64_t{1}, std::int64_t{4}, std::int64_t{2}}},
        {"workload.share", {0.5, 0.25, 0.125, 0.75}},
        {"workload.shoot_down", {true, false}}};
    std::ranges::shuffle(all, random_);
    all.resize(static_cast<std::size_t>(below(4)));
    for (Axis& axis : all) axis.second.resize(1 + static_cast<std::size_t>(below(static_cast<int>(axis.second.size()))));
    return all;
  }

  static std::vector<At> every_combination(const std::vector<Axis>& axes) {
    std::vector<At> all = {{}};
    for (const auto& [path, values] : axes) {
      std::vector<At> longer;
      for (const At& at : all) {
        for (const ConfigValue& value : values) {
          longer.push_back(at);
          longer.back().emplace_back(path, value);
        }
      }
      all = std::move(longer);
    }
    return all;
  }

  double drawn_figure() {
    switch (below(12)) {
      case 0: return kNotANumber;
      case 1: return std::numeric_limits<double>::infinity();
      case 2: return 0;
      case 3: return -1e5;
      default: return 1e5 * (1 + below(3));
    }
  }

  ReportedPoint point_at(At at, RandomTable& table) {
    ReportedPoint point{std::move(at), {}};
    const int number = static_cast<int>(table.points.size());
    if (one_in(10)) return point;
    for (const char* metric : {kRateMetric, kMissMetric, "cost.addition", "replay.first_thread_over_us"}) {
      if (one_in(8)) continue;
      const double value = drawn_figure();
      const std::optional<double> interval =
          one_in(2) ? std::optional(one_in(6) ? kNotANumber : 1000.0 * below(200)) : std::nullopt;
      point.metrics[metric] = {value, "", interval};
      for (std::uint64_t seed = 1; seed <= 3 && one_in(2); ++seed) table.seeds[{number, metric}][seed] = drawn_figure();
    }
    if (!one_in(3)) point.metrics["fairness.starved_cpus"] = {std::int64_t{below(3)}, "", {}};
    return point;
  }

  std::mt19937_64 random_;
};

std::optional<double> figure_of(const ReportedPoint& point, const std::string& metric) {
  const auto found = point.metrics.find(metric);
  if (found == point.metrics.end() || !std::isfinite(as_double(found->second.value))) return std::nullopt;
  return as_double(found->second.value);
}

// True if the two points differ in the compared path and in no other.
bool are_rivals(const ReportedPoint& one, const ReportedPoint& other, const std::string& compared) {
  if (one.at.size() != other.at.size()) return false;
  for (const auto& [path, value] : one.at) {
    if (path != compared && *value_at(other, path) != value) return false;
  }
  return true;
}

bool is_baseline(const ReportedPoint& point, const std::string& compared) {
  return compared == kLockPath && *value_at(point, compared) == ConfigValue(std::string("none"));
}

// The leader is the best of the points at its place, by the metric that the answer states, and the sentence has its name.
void check_leader(const RandomTable& table, const Answer& answer, Better better) {
  const ReportedPoint& leader = table.points.at(static_cast<std::size_t>(*answer.point));
  const auto best = figure_of(leader, answer.metric);
  RC_ASSERT((best.has_value()));
  RC_ASSERT((answer.point != answer.runner_up));
  RC_ASSERT((!is_baseline(leader, answer.compared)));
  for (const ReportedPoint& point : table.points) {
    const auto figure = figure_of(point, answer.metric);
    if (!are_rivals(leader, point, answer.compared) || is_baseline(point, answer.compared) || !figure) continue;
    RC_ASSERT((better == Better::lower ? *best <= *figure : *best >= *figure));
  }
  const Roles roles = roles_of(table.points, table.question.compare);
  const std::string name = alternative_name(*roles.compared, *value_at(leader, answer.compared));
  RC_ASSERT((!name.empty()));
  RC_ASSERT((answer.text.find(name) != std::string::npos || answer.text.find("there is no clear winner") != std::string::npos));
}

void check_answer(const RandomTable& table) {
  const SeedsOfPoint seeds = [&table](int point, const std::string& metric) {
    const auto found = table.seeds.find({point, metric});
    return found == table.seeds.end() ? std::map<std::uint64_t, double>() : found->second;
  };
  const Answer answer = answer_of({table.question, table.headlines, table.points, seeds, 4});
  bool has_figure = false;
  for (const HeadlineMetric& headline : table.headlines) {
    for (const ReportedPoint& point : table.points) has_figure |= figure_of(point, headline.name).has_value();
  }
  RC_ASSERT((!has_figure || !answer.text.empty()));
  RC_ASSERT((answer.text.empty() || answer.point.has_value()));
  RC_ASSERT((answer.text.find("nan") == std::string::npos && answer.text.find("inf") == std::string::npos));
  if (!answer.runner_up) return;
  const auto metric = std::ranges::find(table.headlines, answer.metric, &HeadlineMetric::name);
  check_leader(table, answer, metric == table.headlines.end() ? Better::lower : metric->better);
}

RC_GTEST_PROP(AnswerProperty, ExistsAndNamesALeaderByItsOwnMetric, (std::uint64_t seed)) {
  TableMaker maker(seed);
  for (int i = 0; i < kTablesPerCase; ++i) check_answer(maker.table());
}

}  // namespace
}  // namespace linebounce::sim
